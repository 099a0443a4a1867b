/** Sends the bytes of a log: all bytes so far, or a range. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { AttemptLogReader } from '../../node/attempts/attempt-log-reader.ts';
import type { LogShape } from '../../node/attempts/log-position.ts';
import { contentReply } from '../http/content-reply.ts';
import type { Reply } from '../http/reply.ts';

export async function sendLog(log: AttemptLogReader, request: IncomingMessage): Promise<Reply> {
  const shape = await log.shape();
  return contentReply(request, {
    size: shape.size,
    etag: `"${shape.generation}-${shape.size}"`,
    headers: headersOf(shape),
    // Within a generation a log only grows, so bytes that were read stay valid.
    canResumeFrom: (etag) => etag.startsWith(`"${shape.generation}-`),
    open: async (range) =>
      Readable.from(log.bytes(range ?? { start: 0, end: shape.size }, shape), { objectMode: false }),
  });
}

function headersOf({ generation, head, dropped }: LogShape): Record<string, string> {
  return {
    'content-type': 'text/plain; charset=utf-8',
    'log-generation': String(generation),
    ...(generation > 0 && { 'log-head': String(head), 'log-dropped': String(dropped) }),
  };
}
