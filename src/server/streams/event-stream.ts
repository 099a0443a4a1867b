/**
 * Server-sent events to one reader. A comment every 15 s keeps the connection open and detects disconnected readers. A
 * reader with more than 1 MiB unread is dropped; stream-buffers.ts bounds the unread bytes of all readers.
 */
import type { ServerResponse } from 'node:http';
import type { StreamBuffers } from './stream-buffers.ts';

export interface ServerEvent {
  readonly data: string;
  readonly id?: string;
  readonly event?: string;
}

export interface EventStream {
  /** Aborted when the reader disconnects, is dropped, or the server stops. */
  readonly signal: AbortSignal;
  send(event: ServerEvent): void;
  /** Sends messages that are already formatted. */
  write(text: string): void;
  /** Resolves when the reader can take more data. */
  drained(): Promise<void>;
}

const COMMENT_EVERY_MS = 15_000;
const MAX_UNREAD = 1024 * 1024;

/** Opens a stream. The head of the response must have been sent. */
export function openEventStream(response: ServerResponse, signal: AbortSignal, buffers: StreamBuffers): EventStream {
  buffers.add(response);
  const write = (text: string): void => {
    if (signal.aborted || response.destroyed) return;
    buffers.reserve(response, text.length);
    if (response.destroyed) return;
    response.write(text);
    if (response.writableLength > MAX_UNREAD) response.destroy();
  };
  // An aborted signal emits no event, so its timer would never be cleared.
  if (!signal.aborted) {
    const timer = setInterval(() => write(':\n\n'), COMMENT_EVERY_MS);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }
  // A first comment, so that the reader knows that the stream is open.
  write(':\n\n');
  return { signal, send: (event) => write(formatServerEvent(event)), write, drained: () => drained(response, signal) };
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (signal.aborted || !response.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const go = (): void => {
      response.off('drain', go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    response.once('drain', go);
    signal.addEventListener('abort', go, { once: true });
  });
}

/** Formats a message for the stream. */
export function formatServerEvent({ data, id, event }: ServerEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
}
