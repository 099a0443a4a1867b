/**
 * Writes a stream to a file. Bytes received before an interruption are written, so that the upload can continue from
 * there.
 */
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import type { FreeSpace } from '../blobs/free-space.ts';
import { HashingWriter } from '../blobs/hashing-writer.ts';

export type Source = AsyncIterable<Uint8Array>;

export interface ReceiveOptions {
  readonly handle: FileHandle;
  /** The hash of the first `position` bytes. */
  readonly hash: Hash;
  readonly position: number;
  readonly maxBytes: number;
  readonly space: FreeSpace;
  readonly signal: AbortSignal;
}

export type Received =
  | { readonly end: 'whole'; readonly length: number }
  | { readonly end: 'too-large' }
  | { readonly end: 'cut'; readonly length: number; readonly error: unknown };

/** Throws errors of the disk; errors of the source are in the result. */
export async function receive(source: Source, options: ReceiveOptions): Promise<Received> {
  const writer = new HashingWriter(options);
  const stream = source instanceof Readable ? source : Readable.from(source, { objectMode: false });
  try {
    const cut = await copyStream(stream, writer, options);
    if (cut === 'too-large') return { end: 'too-large' };
    await writer.end();
    return cut === null
      ? { end: 'whole', length: writer.length }
      : { end: 'cut', length: writer.length, error: cut.error };
  } finally {
    await writer.end().catch(() => undefined);
    // A stream of the caller is left open: destroying a request would close the connection before the answer.
    if (stream !== source) stream.destroy();
  }
}

type Cut = null | 'too-large' | { readonly error: unknown };

async function copyStream(stream: Readable, writer: HashingWriter, { signal, maxBytes }: ReceiveOptions): Promise<Cut> {
  const chunks = chunksOf(stream, signal);
  for (let next = await chunks(); next !== null; next = await chunks()) {
    if ('error' in next) return next;
    if (writer.length + next.chunk.length > maxBytes) return 'too-large';
    await writer.write(next.chunk);
  }
  return null;
}

type Next = { readonly chunk: Uint8Array } | { readonly error: unknown } | null;

/**
 * Separates failures of the source from those of the writer, which `for await` would mix. A source that hangs within a
 * chunk cannot be stopped: after an abort it is abandoned at once.
 */
function chunksOf(stream: Readable, signal: AbortSignal): () => Promise<Next> {
  addAbortSignal(signal, stream);
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let release = (): void => undefined;
  const abort = (): void => release();
  signal.addEventListener('abort', abort, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', abort));
  // Not Promise.race with one shared promise: that would retain every chunk.
  return () =>
    new Promise((resolve) => {
      release = () => resolve({ error: signal.reason });
      if (signal.aborted) release();
      void nextOf(iterator).then(resolve);
    });
}

async function nextOf(iterator: AsyncIterator<Uint8Array>): Promise<Next> {
  try {
    const { done, value } = await iterator.next();
    if (done === true) return null;
    return value instanceof Uint8Array ? { chunk: value } : { error: new TypeError('the stream does not yield bytes') };
  } catch (error) {
    return { error };
  }
}
