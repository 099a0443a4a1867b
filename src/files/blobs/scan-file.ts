/**
 * Reads a file from end to end in bounded memory: the next bytes are being read while the visitor has the last.
 *
 * Invariant: a visitor's bytes are overwritten once it has resolved; it must not keep them.
 */
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const PIECE_BYTES = 512 * 1024;

export interface Range {
  readonly start: number;
  /** The first byte that is no longer wanted. */
  readonly end: number;
}

export type Visit = (bytes: Buffer, at: number) => Promise<void> | void;

const whole: Range = { start: 0, end: Number.MAX_SAFE_INTEGER };

/** Answers how many bytes were visited: fewer than the range is long when the file ends before it. */
export async function scanFile(handle: FileHandle, visit: Visit, { start, end }: Range = whole): Promise<number> {
  const buffers = [Buffer.allocUnsafeSlow(PIECE_BYTES), Buffer.allocUnsafeSlow(PIECE_BYTES)] as const;
  let at = start;
  let place: 0 | 1 = 0;
  let reading = readPiece(handle, buffers[place], { start: at, end });
  for (let bytes = await reading; bytes.length > 0; bytes = await reading) {
    place = place === 0 ? 1 : 0;
    reading = readPiece(handle, buffers[place], { start: at + bytes.length, end });
    // Its failure is heard when it is awaited; a visitor that throws first must not leave it unheard.
    reading.catch(() => undefined);
    await visitThen(reading, () => visit(bytes, at));
    at += bytes.length;
  }
  return at - start;
}

/** The handle must not be closed under a read that is under way. */
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

/** A hash that has seen the file from its beginning to `end`, and may be fed more. */
export async function hashFile(handle: FileHandle, algorithm: 'sha256' | 'md5', end = whole.end): Promise<Hash> {
  const hash = createHash(algorithm);
  await scanFile(handle, (bytes) => void hash.update(bytes), { start: 0, end });
  return hash;
}

/** A write may take less than it was given, and does so before a disk is full. */
export async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}
