/** Copies a file and hashes it in the same pass; reads, hashing and writes overlap. */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { scanFile, writeAll } from './scan-file.ts';

export interface Copied {
  readonly sha256: string;
  readonly bytes: number;
}

/** Copies at most the first `length` bytes. */
export async function copyHashed(from: FileHandle, to: FileHandle, length: number): Promise<Copied> {
  const hash = createHash('sha256');
  const visit = async (piece: Buffer, at: number) => {
    const writing = writeAll(to, piece, at);
    writing.catch(() => undefined);
    hash.update(piece);
    await writing;
  };
  const bytes = await scanFile(from, visit, { start: 0, end: length });
  return { sha256: hash.digest('hex'), bytes };
}
