/** Files on their way in and out: never a half of one under its own name. */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

export async function sizeOfFile(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new LonghaulError('bad-input', error.code === 'ENOENT' ? `there is no file ${path}` : error.message);
  });
  if (!found.isFile()) throw new LonghaulError('bad-input', `${path} is no file`);
  return found.size;
}

/** Passes the bytes on and tells how many there were. */
export async function* counted(source: Bytes, onBytes: (done: number) => void): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const piece of source) {
    yield piece;
    done += piece.length;
    onBytes(done);
  }
}

export async function writeWhole(path: string, source: Bytes): Promise<void> {
  const draft = `${path}.part-${process.pid}`;
  try {
    await pipeline(source, createWriteStream(draft, { flags: 'wx' }));
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
