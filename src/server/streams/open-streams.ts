/**
 * Streams that stay open under a credential. Every two seconds the store is asked whether each still holds; when one was
 * revoked or is over, its streams are closed. The timer runs only while somebody stays.
 */
import type { Caller } from '../auth/callers.ts';

export interface StaysOptions {
  isStill(caller: Caller): Promise<boolean>;
  onTrouble(what: string, error: unknown): void;
}

interface Stay {
  readonly caller: Caller;
  readonly revoked: AbortController;
}

const LOOK_EVERY_MS = 2_000;

export class Stays {
  readonly #options: StaysOptions;
  readonly #stays = new Set<Stay>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StaysOptions) {
    this.#options = options;
  }

  /** The signal aborts when the credential holds no more. `gone` ends the stay. */
  add(caller: Caller, gone: AbortSignal): AbortSignal {
    const stay = { caller, revoked: new AbortController() };
    this.#stays.add(stay);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS);
    gone.addEventListener('abort', () => this.#remove(stay), { once: true });
    if (gone.aborted) this.#remove(stay);
    return stay.revoked.signal;
  }

  #remove(stay: Stay): void {
    this.#stays.delete(stay);
    if (this.#stays.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    const byPlace = new Map<string, Stay[]>();
    for (const stay of this.#stays) {
      const place = `${stay.caller.kind}/${stay.caller.id}`;
      byPlace.set(place, [...(byPlace.get(place) ?? []), stay]);
    }
    await Promise.all([...byPlace.values()].map((stays) => this.#lookAt(stays)));
  }

  async #lookAt(stays: readonly Stay[]): Promise<void> {
    const [first] = stays;
    try {
      if (first === undefined || (await this.#options.isStill(first.caller))) return;
    } catch (error) {
      // A store that is away says nothing of the credential: the streams stay, and it is asked again.
      this.#options.onTrouble('whether open streams may stay could not be found out', error);
      return;
    }
    for (const stay of stays) {
      stay.revoked.abort();
      this.#remove(stay);
    }
  }
}
