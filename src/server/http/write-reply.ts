/** Sends a reply. Every answer has headers against content sniffing, framing, caching and cross-site reads. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { openEventStream } from '../streams/event-stream.ts';
import type { StreamBuffers } from '../streams/stream-buffers.ts';
import type { Reply, ReplyBody } from './reply.ts';

export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
};

interface Writing {
  readonly isHead: boolean;
  /** Aborted when the caller disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** Bounds the unread bytes of all event streams. */
  readonly buffers: StreamBuffers;
}

export async function writeReply(response: ServerResponse, reply: Reply, writing: Writing): Promise<void> {
  const { isHead, signal } = writing;
  const { body } = reply;
  const content = contentOf(body);
  const type = body.kind === 'json' ? 'application/json' : body.kind === 'bytes' ? 'application/octet-stream' : null;
  response.writeHead(reply.status, {
    ...SAFE_HEADERS,
    ...(type !== null && { 'content-type': type }),
    ...(content !== null && { 'content-length': content.length }),
    ...reply.headers,
  });
  if (isHead || content !== null) {
    if (body.kind === 'bytes') body.stream.destroy();
    response.end(isHead ? undefined : content);
    if (response.writableLength > 0) dropWhenStalled(response);
    return;
  }
  dropWhenStalled(response);
  if (body.kind === 'bytes') await pipeline(body.stream, response, { signal });
  if (body.kind === 'events') await runEvents(response, body.run, writing);
}

/** Returns the complete content; null for streams. */
function contentOf(body: ReplyBody): Buffer | null {
  switch (body.kind) {
    case 'none':
      return Buffer.alloc(0);
    case 'json':
      return Buffer.from(JSON.stringify(body.value));
    case 'text':
      return Buffer.from(body.text);
    default:
      return null;
  }
}

async function runEvents(
  response: ServerResponse,
  run: (ReplyBody & { kind: 'events' })['run'],
  { signal, buffers }: Writing,
): Promise<void> {
  response.flushHeaders();
  await run(openEventStream(response, signal, buffers));
  response.end();
}

const STALL_CHECK_MS = 30_000;

/**
 * Closes the connection of a reader that takes no byte between two checks while there are bytes to take. Without this, a
 * client that does not read would hold a connection, a file and a buffer forever.
 */
function dropWhenStalled(response: ServerResponse): void {
  let before = takenOf(response);
  const timer = setInterval(() => {
    const taken = takenOf(response);
    if (taken === before && response.writableLength > 0) response.destroy();
    before = taken;
  }, STALL_CHECK_MS);
  timer.unref();
  response.once('close', () => clearInterval(timer));
}

/** Returns the bytes that have left this process. */
function takenOf({ socket }: ServerResponse): number {
  return socket === null ? 0 : socket.bytesWritten - socket.writableLength;
}
