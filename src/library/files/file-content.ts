/** The content of a new file: a path, bytes or a stream. Everything is read in pieces; a path is checked before it is used. */
import { createReadStream, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { show } from '../../core/input/check.ts';
import { badInput, LonghaulError } from '../../core/ports/errors.ts';

/**
 * The content of a new file: the path of a file (a text or a `file:` URL), bytes, or a stream of bytes (a `Readable`, a
 * `ReadableStream`, a generator). A text is always a path; give text content as `Buffer.from(text)`.
 */
export type FileContent = string | URL | Uint8Array | AsyncIterable<Uint8Array | string>;

/** Content that is ready to be read. */
export interface OpenContent {
  /** Null for a stream, which does not tell its size. */
  readonly size: number | null;
  /** Reads from an offset. A stream can be read only once, and only from its start. */
  read(start: number): AsyncIterable<Uint8Array>;
}

/** Content that can be read again after a cut. */
export interface RepeatableContent extends OpenContent {
  readonly size: number;
}

const PIECE_BYTES = 256 * 1024;

export const isRepeatable = (content: OpenContent): content is RepeatableContent => content.size !== null;

/** Returns what is wrong with a content, or null. Reads nothing of it. */
export async function contentProblem(content: unknown): Promise<string | null> {
  if (content instanceof Uint8Array || isStream(content)) return null;
  const path = pathIn(content);
  if (path === null) return `must be a path, bytes or a stream of bytes, not ${show(content)}`;
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) return found.code === 'ENOENT' ? noFile(path) : `${path}: ${found.message}`;
  return found.isFile() ? null : `${path} is not a regular file`;
}

/** Throws `bad-input` for a content that is none, and for a path without a file. */
export async function openContent(content: FileContent): Promise<OpenContent> {
  const problem = await contentProblem(content);
  if (problem !== null) throw badInput('attachment', [{ path: 'content', message: problem }]);
  if (content instanceof Uint8Array) return { size: content.length, read: (start) => piecesOf(content, start) };
  if (isStream(content)) return { size: null, read: () => bytesOf(content) };
  const path = pathIn(content) ?? '';
  const first = await stat(path);
  return { size: first.size, read: (start) => readUnchanged(path, first, start) };
}

function isStream(content: unknown): content is AsyncIterable<Uint8Array | string> {
  return typeof content === 'object' && content !== null && Symbol.asyncIterator in content;
}

function pathIn(content: unknown): string | null {
  if (typeof content === 'string') return content;
  return content instanceof URL && content.protocol === 'file:' ? fileURLToPath(content) : null;
}

/** A text that is content and no path would be a long error message. */
function noFile(path: string): string {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return `there is no file ${shown}; give text content as Buffer.from(text)`;
}

async function* piecesOf(bytes: Uint8Array, start: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

async function* bytesOf(stream: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    const bytes: unknown = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!(bytes instanceof Uint8Array))
      throw badInput('attachment', [{ path: 'content', message: `must be a stream of bytes, not of ${show(chunk)}` }]);
    yield bytes;
  }
}

/** The last piece is held back until it is clear that the file did not change: such a file has no definite content. */
async function* readUnchanged(path: string, first: Stats, start: number): AsyncGenerator<Uint8Array> {
  let at = start;
  if (at >= first.size) return;
  const stream = createReadStream(path, { start, end: first.size - 1, highWaterMark: PIECE_BYTES });
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    at += chunk.length;
    if (at === first.size) await mustBeUnchanged(path, first);
    yield chunk;
  }
  if (at < first.size) throw changed(path);
}

async function mustBeUnchanged(path: string, first: Stats): Promise<void> {
  const now = await stat(path).catch(() => null);
  const isSame = now?.size === first.size && now.mtimeMs === first.mtimeMs && now.ino === first.ino;
  if (!isSame) throw changed(path);
}

const changed = (path: string): LonghaulError =>
  new LonghaulError('refused', `${path} changed while it was read: attach it when it is complete`);
