/** Reads and writes of whole files. A partly written file never has its final name. */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { LonghaulError } from '../../core/ports/errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

export async function fileSize(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new LonghaulError('bad-input', error.code === 'ENOENT' ? `there is no file ${path}` : error.message);
  });
  if (!found.isFile()) throw new LonghaulError('bad-input', `${path} is not a regular file`);
  return found.size;
}

/** Passes chunks through and reports the bytes so far. */
export async function* countBytes(source: Bytes, onBytes: (done: number) => void): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const chunk of source) {
    yield chunk;
    done += chunk.length;
    onBytes(done);
  }
}

export async function writeAtomically(path: string, source: Bytes): Promise<void> {
  const partial = `${path}.part-${process.pid}`;
  try {
    await pipeline(source, createWriteStream(partial, { flags: 'wx' }));
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}
