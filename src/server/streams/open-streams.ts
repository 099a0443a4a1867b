/**
 * Open streams with their credentials. Every two seconds, each credential is checked in the store; the streams of a revoked
 * or expired one are closed. The timer runs only while there are open streams.
 */
import type { Caller } from '../auth/callers.ts';

export interface OpenStreamsOptions {
  isValid(caller: Caller): Promise<boolean>;
  onTrouble(what: string, error: unknown): void;
}

interface OpenStream {
  readonly caller: Caller;
  readonly revoked: AbortController;
}

const CHECK_EVERY_MS = 2_000;

export class OpenStreams {
  readonly #options: OpenStreamsOptions;
  readonly #streams = new Set<OpenStream>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OpenStreamsOptions) {
    this.#options = options;
  }

  /** Adds a stream until `gone` aborts. Returns a signal that aborts when the credential is no longer valid. */
  add(caller: Caller, gone: AbortSignal): AbortSignal {
    const stream = { caller, revoked: new AbortController() };
    this.#streams.add(stream);
    this.#timer ??= setInterval(() => void this.#checkAll(), CHECK_EVERY_MS);
    gone.addEventListener('abort', () => this.#remove(stream), { once: true });
    if (gone.aborted) this.#remove(stream);
    return stream.revoked.signal;
  }

  #remove(stream: OpenStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #checkAll(): Promise<void> {
    const byCredential = new Map<string, OpenStream[]>();
    for (const stream of this.#streams) {
      const key = `${stream.caller.kind}/${stream.caller.id}`;
      byCredential.set(key, [...(byCredential.get(key) ?? []), stream]);
    }
    await Promise.all([...byCredential.values()].map((streams) => this.#check(streams)));
  }

  async #check(streams: readonly OpenStream[]): Promise<void> {
    const [first] = streams;
    try {
      if (first === undefined || (await this.#options.isValid(first.caller))) return;
    } catch (error) {
      // An unavailable store says nothing about the credential: the streams stay open until the next check.
      this.#options.onTrouble('cannot check the credentials of open streams', error);
      return;
    }
    for (const stream of streams) {
      stream.revoked.abort();
      this.#remove(stream);
    }
  }
}
