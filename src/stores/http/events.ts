/**
 * The store's events, from the server's event stream. A stream that ends is reopened. Events in between are lost: listeners
 * get a gap event, and poll slowly as well. Calls of this store wait for the first stream, for a limited time.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventListener, StoreEvent, Unsubscribe } from '../../core/ports/job-store.ts';
import { GAP_EVENT } from '../../core/ports/job-store.ts';

const MAX_WAIT_MS = 1_000;
const RETRY_MS = 500;
/** The server sends a comment every 15 s; silence of twice that means that the connection is dead. */
const SILENCE_MS = 35_000;
/** A longer message is taken for a broken stream. */
const MAX_MESSAGE = 16 * 1024 * 1024;

export class Events {
  readonly #listeners = new Set<EventListener>();
  readonly #open: () => ClientRequest;
  #starting: Promise<void> | null = null;
  #isSettled = false;
  #isClosed = false;
  #wasOpen = false;
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

  /** Resolves when the first stream is open, or after the limit; undefined when no wait is needed. */
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
    const opened = new Promise<void>((resolve) => this.#listen(resolve));
    await Promise.race([opened, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
    this.#isSettled = true;
  }

  #listen(onOpen: () => void): void {
    if (this.#isClosed) return;
    const request = this.#open();
    this.#request = request;
    request.setTimeout(SILENCE_MS, () => request.destroy());
    request.once('response', (response) => {
      if (response.statusCode !== 200) {
        request.destroy();
        return;
      }
      onOpen();
      if (this.#wasOpen) this.#emit([GAP_EVENT]);
      this.#wasOpen = true;
      void this.#read(response).catch(() => undefined);
    });
    // Every request ends with 'close', with or without an error.
    request.on('error', () => undefined);
    request.once('close', () => {
      if (!this.#isClosed) this.#retry = setTimeout(() => this.#listen(onOpen), RETRY_MS);
    });
    request.end();
  }

  async #read(response: IncomingMessage): Promise<void> {
    for await (const message of messagesOf(response as AsyncIterable<Buffer>)) {
      this.#emit(JSON.parse(message) as StoreEvent[]);
    }
  }

  #emit(events: readonly StoreEvent[]): void {
    for (const listener of this.#listeners) listener(events);
  }
}

/** Yields the data of each server-sent event, however the chunks split the messages. */
async function* messagesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let open = '';
  for await (const chunk of chunks) {
    open += decoder.decode(chunk, { stream: true });
    const messages = open.split('\n\n');
    open = messages.pop() ?? '';
    if (open.length > MAX_MESSAGE) throw new Error(`a message of the event stream exceeds ${MAX_MESSAGE} characters`);
    for (const message of messages) {
      const data = dataOf(message);
      if (data !== null) yield data;
    }
  }
}

/** Returns the data of a message; null for a comment. */
function dataOf(message: string): string | null {
  const lines = message.split('\n').filter((line) => line.startsWith('data:'));
  return lines.length === 0 ? null : lines.map((line) => line.replace(/^data: ?/, '')).join('\n');
}
