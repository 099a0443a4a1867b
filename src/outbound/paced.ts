/** Pieces of a stream as fast as they may go. One piece at a time: whoever takes them slowly is waited for. */
import type { Readable } from 'node:stream';
import type { Pacer } from './pacer.ts';

/** Small enough that a slow link shows that it lives. */
const SMALL_PIECE = 16 * 1024;

export async function* paced(
  source: Readable,
  {
    pacer,
    signal,
    onPiece,
  }: { readonly pacer: Pacer | null; readonly signal: AbortSignal | undefined; onPiece(bytes: number): void },
): AsyncGenerator<Buffer> {
  for await (const piece of source as AsyncIterable<Buffer>) {
    for (const part of pacer === null ? [piece] : partsOf(piece)) {
      await pacer?.take(part.length, signal);
      onPiece(part.length);
      yield part;
    }
  }
}

function* partsOf(piece: Buffer): Generator<Buffer> {
  for (let at = 0; at < piece.length; at += SMALL_PIECE) yield piece.subarray(at, at + SMALL_PIECE);
}
