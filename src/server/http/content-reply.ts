/**
 * Answers requests for content of known length: complete, a range (RFC 9110, section 14), not modified, or unsatisfiable.
 *
 * Uploaded files and script output must never run as a page of this origin: each answer has a sandbox policy.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { problemReply } from './problem.ts';
import type { Reply } from './reply.ts';

export interface ByteRange {
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** `whole` is also the result for malformed ranges, other units and several parts: a server may ignore those. */
type RequestedRange = 'whole' | 'outside' | ByteRange;

export interface Content {
  readonly size: number;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Returns whether a reader with this entity tag may request a range. Default: the tags must be equal. */
  canResumeFrom?(etag: string): boolean;
  /** Called only if there is content to send. Null: the complete content. */
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
  const asked = isRangeRequested(request, content) ? rangeOf(request.headers.range, size) : 'whole';
  if (asked === 'outside') {
    const detail = `the range is outside the content, which has ${size} bytes`;
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

function isRangeRequested({ headers }: IncomingMessage, { etag, canResumeFrom }: Content): boolean {
  const condition = headers['if-range'];
  if (typeof condition !== 'string') return true;
  return canResumeFrom === undefined ? condition === etag : canResumeFrom(condition);
}

function rangeOf(header: string | undefined, size: number): RequestedRange {
  const [, first, last] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return 'whole';
  if (first === '') return suffixRange(Number(last), size);
  const start = Number(first);
  const end = last === '' ? size : Number(last) + 1;
  if (end <= start && last !== '') return 'whole';
  return start < size ? { start, end: Math.min(end, size) } : 'outside';
}

/** `-500`: the last 500 bytes, or the complete content if it is shorter. */
function suffixRange(count: number, size: number): RequestedRange {
  return count === 0 || size === 0 ? 'outside' : { start: Math.max(0, size - count), end: size };
}

function hasTag(header: string | undefined, etag: string): boolean {
  return (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*');
}
