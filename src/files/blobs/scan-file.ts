/**
 * Reads a file from beginning to end in bounded memory: the next chunk is read while the visitor processes the last.
 *
 * Invariant: the buffer of a visitor is reused once the visitor has resolved; it must not keep it.
 */
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const PIECE_BYTES = 512 * 1024;

export interface Range {
  readonly start: number;
  /** The first byte that is not included. */
  readonly end: number;
}

export type Visit = (bytes: Buffer, at: number) => Promise<void> | void;

const whole: Range = { start: 0, end: Number.MAX_SAFE_INTEGER };

/** Returns how many bytes were visited: fewer than the range when the file is shorter. */
export async function scanFile(handle: FileHandle, visit: Visit, { start, end }: Range = whole): Promise<number> {
  const buffers = [Buffer.allocUnsafeSlow(PIECE_BYTES), Buffer.allocUnsafeSlow(PIECE_BYTES)] as const;
  let at = start;
  let current: 0 | 1 = 0;
  let reading = readPiece(handle, buffers[current], { start: at, end });
  for (let bytes = await reading; bytes.length > 0; bytes = await reading) {
    current = current === 0 ? 1 : 0;
    reading = readPiece(handle, buffers[current], { start: at + bytes.length, end });
    // A rejection is handled when it is awaited; a visitor that throws first must not leave it unhandled.
    reading.catch(() => undefined);
    await visitThen(reading, () => visit(bytes, at));
    at += bytes.length;
  }
  return at - start;
}

/** Waits for the pending read on failure: the handle must not be closed under it. */
async function visitThen(reading: Promise<Buffer>, visit: () => Promise<void> | void): Promise<void> {
  try {
    await visit();
  } catch (error) {
    await reading.catch(() => undefined);
    throw error;
  }
}

async function readPiece(handle: FileHandle, buffer: Buffer, { start, end }: Range): Promise<Buffer> {
  const wanted = Math.min(buffer.length, end - start);
  if (wanted <= 0) return buffer.subarray(0, 0);
  const { bytesRead } = await handle.read(buffer, 0, wanted, start);
  return buffer.subarray(0, bytesRead);
}

/** Returns a hash of the file up to `end`, which may be updated further. */
export async function hashFile(handle: FileHandle, algorithm: 'sha256' | 'md5', end = whole.end): Promise<Hash> {
  const hash = createHash(algorithm);
  await scanFile(handle, (bytes) => void hash.update(bytes), { start: 0, end });
  return hash;
}

/** Writes all bytes: a write may be partial, for example when the disk is nearly full. */
export async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
