/** Takes a stream into a file. What has come before a cut is written, so that an upload can go on from there. */
import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { addAbortSignal, Readable } from 'node:stream';
import type { FreeSpace } from '../blobs/free-space.ts';
import { HashingWriter } from '../blobs/hashing-writer.ts';

export type Source = AsyncIterable<Uint8Array>;

export interface Reception {
  readonly handle: FileHandle;
  /** Has seen the first `position` bytes. */
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

/** Throws what the disk says; what the source says is in the answer. */
export async function receive(source: Source, reception: Reception): Promise<Received> {
  const writer = new HashingWriter(reception);
  const stream = source instanceof Readable ? source : Readable.from(source, { objectMode: false });
  try {
    const cut = await pour(stream, writer, reception);
    if (cut === 'too-large') return { end: 'too-large' };
    await writer.end();
    return cut === null
      ? { end: 'whole', length: writer.length }
      : { end: 'cut', length: writer.length, error: cut.error };
  } finally {
    await writer.end().catch(() => undefined);
    // A caller's own stream is left to it: to destroy a request would be to hang up before it is answered.
    if (stream !== source) stream.destroy();
  }
}

type Cut = null | 'too-large' | { readonly error: unknown };

async function pour(stream: Readable, writer: HashingWriter, { signal, maxBytes }: Reception): Promise<Cut> {
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
 * Keeps the source's failures apart from the writer's, which `for await` would mix. A source that is stuck in the middle
 * of a piece cannot be told to stop: who is aborted lets go of it at once.
 */
function chunksOf(stream: Readable, signal: AbortSignal): () => Promise<Next> {
  addAbortSignal(signal, stream);
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let letGo = (): void => undefined;
  const abort = (): void => letGo();
  signal.addEventListener('abort', abort, { once: true });
  stream.once('close', () => signal.removeEventListener('abort', abort));
  // Not by Promise.race with one promise for all: that one would hold on to every piece.
  return () =>
    new Promise((resolve) => {
      letGo = () => resolve({ error: signal.reason });
      if (signal.aborted) letGo();
      void nextOf(iterator).then(resolve);
    });
}

async function nextOf(iterator: AsyncIterator<Uint8Array>): Promise<Next> {
  try {
    const { done, value } = await iterator.next();
    if (done === true) return null;
    return value instanceof Uint8Array ? { chunk: value } : { error: new TypeError('the stream gives no bytes') };
  } catch (error) {
    return { error };
  }
}
