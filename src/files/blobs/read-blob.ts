/**
 * Reads a blob, whole or in part, as a stream with backpressure.
 *
 * Invariant: a whole read is verified. The last chunk is held back until the hash is known to be right, so a reader of
 * a damaged blob gets an error and never all of the announced bytes. A range cannot be verified; `verify` can.
 */
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { type BlobRefused, refuseBlob } from './blob-refusal.ts';
import { corrupt, fileError } from './file-errors.ts';
import type { Layout } from './layout.ts';
import { openBlob } from './open-blob.ts';
import type { Range } from './scan-file.ts';

const PIECE_BYTES = 256 * 1024;

export interface BlobReading extends Range {
  readonly ok: true;
  /** The size of the whole blob. */
  readonly size: number;
  readonly stream: Readable;
}

/** Reads from `start` to before `end`; an `end` beyond the blob means its end. */
export async function readBlob(
  layout: Layout,
  sha256: string,
  { start = 0, end = Number.MAX_SAFE_INTEGER }: Partial<Range> = {},
): Promise<BlobReading | BlobRefused> {
  const handle = await openBlob(layout, sha256);
  if (handle === null) return refuseBlob('not-found', `attachment ${sha256} does not exist`);
  const { size } = await handle.stat();
  const range = { start, end: Math.min(end, size) };
  if (!(Number.isSafeInteger(start) && start >= 0 && start <= range.end)) {
    await handle.close();
    return refuseBlob('out-of-range', `attachment ${sha256} has ${size} bytes: offset ${start} is out of range`);
  }
  const hash = start === 0 && range.end === size ? createHash('sha256') : null;
  return { ok: true, ...range, size, stream: openStream({ handle, sha256, hash }, range) };
}

interface Opened {
  readonly handle: FileHandle;
  readonly sha256: string;
  /** Null for a range. */
  readonly hash: Hash | null;
}

function openStream(opened: Opened, range: Range): Readable {
  const next = piecesOf(opened, range);
  return new Readable({
    // One chunk is read ahead of the reader.
    highWaterMark: 2 * PIECE_BYTES,
    read() {
      next().then(
        (piece) => this.push(piece),
        (error: unknown) => this.destroy(fileError(error, 'while reading an attachment') as Error),
      );
    },
    destroy(error, closed) {
      opened.handle.close().then(() => closed(error), closed);
    },
  });
}

/** Returns a function that returns the next chunk, and null after the last. */
function piecesOf({ handle, sha256, hash }: Opened, { start, end }: Range): () => Promise<Buffer | null> {
  let at = start;
  let isOver = false;
  return async () => {
    if (isOver) return null;
    const piece = await readPiece(handle, at, end);
    if (piece.length === 0 && at < end) throw corrupt(sha256, `it ends at byte ${at} instead of ${end}`);
    hash?.update(piece);
    at += piece.length;
    isOver = at === end;
    if (isOver && hash !== null && hash.digest('hex') !== sha256)
      throw corrupt(sha256, 'its content has a different hash');
    return piece.length === 0 ? null : piece;
  };
}

/** Allocates a new buffer, because the reader may keep it. */
async function readPiece(handle: FileHandle, at: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
  return buffer.subarray(0, bytesRead);
}
