/**
 * The store's events, as the server streams them. A stream that ends is opened again; what was said meanwhile is lost, so
 * listeners poll slowly besides, and hear of the gap. Until the first stream stands, calls of this store wait for it, but never for long.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventListener, StoreEvent, Unsubscribe } from '../../core/ports/job-store.ts';
import { GAP_EVENT } from '../../core/ports/job-store.ts';
import { messagesOf } from './event-messages.ts';

const MAX_WAIT_MS = 1_000;
const RETRY_MS = 500;
/** The server says something every 15 s; silence of twice that means that the connection is dead. */
const SILENCE_MS = 35_000;

export class Events {
  readonly #listeners = new Set<EventListener>();
  readonly #open: () => ClientRequest;
  #starting: Promise<void> | null = null;
  #isSettled = false;
  #isClosed = false;
  #hasStood = false;
  #request: ClientRequest | null = null;
  #retry: NodeJS.Timeout | null = null;

  constructor(open: () => ClientRequest) {
    this.#open = open;
  }

  subscribe(listener: EventListener): Unsubscribe {
    this.#listeners.add(listener);
    this.#starting ??= this.#start();
    return () => this.#listeners.delete(listener);
  }

  /** Undefined when there is nothing to wait for. */
  get settling(): Promise<void> | undefined {
    return this.#starting === null || this.#isSettled ? undefined : this.#starting;
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#request?.destroy();
  }

  async #start(): Promise<void> {
    const standing = new Promise<void>((resolve) => this.#listen(resolve));
    await Promise.race([standing, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
    this.#isSettled = true;
  }

  #listen(onStanding: () => void): void {
    if (this.#isClosed) return;
    const request = this.#open();
    this.#request = request;
    request.setTimeout(SILENCE_MS, () => request.destroy());
    request.once('response', (response) => {
      if (response.statusCode !== 200) {
        request.destroy();
        return;
      }
      onStanding();
      if (this.#hasStood) this.#tell([GAP_EVENT]);
      this.#hasStood = true;
      void this.#hear(response).catch(() => undefined);
    });
    // Every end of a request comes with a close, whatever was before it.
    request.on('error', () => undefined);
    request.once('close', () => {
      if (!this.#isClosed) this.#retry = setTimeout(() => this.#listen(onStanding), RETRY_MS);
    });
    request.end();
  }

  async #hear(response: IncomingMessage): Promise<void> {
    for await (const message of messagesOf(response as AsyncIterable<Buffer>)) {
      this.#tell(JSON.parse(message) as StoreEvent[]);
    }
  }

  #tell(events: readonly StoreEvent[]): void {
    for (const listener of this.#listeners) listener(events);
  }
}
