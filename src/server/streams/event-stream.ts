/**
 * Server-sent events to one reader. A comment every 15 s keeps the connection and finds out who has gone. A reader that
 * leaves more than 1 MiB unread is dropped; stream-buffers.ts bounds what all readers together leave unread.
 */
import type { ServerResponse } from 'node:http';
import type { StreamBuffers } from './stream-buffers.ts';

export interface ServerEvent {
  readonly data: string;
  readonly id?: string;
  readonly event?: string;
}

export interface EventStream {
  /** Aborted when the reader has gone, was dropped, or the server stops. */
  readonly signal: AbortSignal;
  send(event: ServerEvent): void;
  /** Sends messages that are formatted already. */
  write(text: string): void;
  /** Resolved when the reader has room for more: for whoever has much to send and can wait with it. */
  drained(): Promise<void>;
}

const COMMENT_EVERY_MS = 15_000;
const MOST_UNREAD = 1024 * 1024;

/** The response must have its head already. */
export function openEventStream(response: ServerResponse, signal: AbortSignal, buffers: StreamBuffers): EventStream {
  buffers.add(response);
  const write = (text: string): void => {
    if (signal.aborted || response.destroyed) return;
    buffers.reserve(response, text.length);
    if (response.destroyed) return;
    response.write(text);
    if (response.writableLength > MOST_UNREAD) response.destroy();
  };
  // A reader may have gone before this: nobody would tell of it again.
  if (!signal.aborted) {
    const timer = setInterval(() => write(':\n\n'), COMMENT_EVERY_MS);
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }
  // Something at once, so that the reader knows that it is heard.
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

/** Returns the message as it is written to the stream. */
export function formatServerEvent({ data, id, event }: ServerEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}${data
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
}
