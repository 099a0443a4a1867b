/** Writes a reply to the wire. Every answer says that it is not to be guessed at, framed, kept or read by other sites. */
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { openEventStream } from '../streams/event-stream.ts';
import type { StreamBuffers } from '../streams/stream-buffers.ts';
import type { Reply, ReplyBody } from './reply.ts';
import { dropWhenStalled } from './stalled-reader.ts';

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
  /** Aborted when the caller has gone or the server stops. */
  readonly signal: AbortSignal;
  /** Counts what the readers of event streams leave unread. */
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

/** What is at hand at once, with its length; null for streams. */
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
