/**
 * The answer for content of a known length that may be asked for in parts: whole, a range, unchanged, or none of it.
 *
 * What people sent and what scripts print is never shown as a page of ours: each answer is locked into a sandbox.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { ByteRange } from './byte-range.ts';
import { rangeOf } from './byte-range.ts';
import { problemReply } from './problem.ts';
import type { Reply } from './reply.ts';

export interface Content {
  readonly size: number;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether a reader that has this tag may go on with a part. Default: the tag must be the same. */
  goesOnFrom?(etag: string): boolean;
  /** Opened only when there is something to send. Null: all of it. */
  open(range: ByteRange | null): Promise<Readable>;
}

const SANDBOX = { 'content-security-policy': "default-src 'none'; sandbox" };
const PARTIAL = 206;
const UNCHANGED = 304;

export async function contentReply(request: IncomingMessage, content: Content): Promise<Reply> {
  const { size, etag } = content;
  const headers = { ...content.headers, ...SANDBOX, etag, 'accept-ranges': 'bytes' };
  if (hasTag(request.headers['if-none-match'], etag))
    return { status: UNCHANGED, headers: { ...headers, 'content-length': String(size) }, body: { kind: 'none' } };
  const asked = isRangeMeant(request, content) ? rangeOf(request.headers.range, size) : 'whole';
  if (asked === 'outside') {
    const detail = `there are ${size} bytes, and none in the range that was asked for`;
    return problemReply('range-not-satisfiable', detail, { headers: { 'content-range': `bytes */${size}` } });
  }
  if (asked === 'whole') return send(content, { status: 200, headers, length: size, range: null });
  const { start, end } = asked;
  const partial = { ...headers, 'content-range': `bytes ${start}-${end - 1}/${size}` };
  return send(content, { status: PARTIAL, headers: partial, length: end - start, range: asked });
}

interface Sending {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly length: number;
  readonly range: ByteRange | null;
}

async function send(content: Content, { status, headers, length, range }: Sending): Promise<Reply> {
  const stream = await content.open(range);
  return { status, headers: { ...headers, 'content-length': String(length) }, body: { kind: 'bytes', stream } };
}

function isRangeMeant({ headers }: IncomingMessage, { etag, goesOnFrom }: Content): boolean {
  const condition = headers['if-range'];
  if (typeof condition !== 'string') return true;
  return goesOnFrom === undefined ? condition === etag : goesOnFrom(condition);
}

function hasTag(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
}
