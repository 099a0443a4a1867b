/**
 * Copies files of a data directory for a backup, each with its hash. A blob never changes, so on the same disk a hard
 * link is as good as a copy; every other file is copied.
 */
import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, link, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

const FOLDER_MODE = 0o700;

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

/** Returns the regular files below a directory, relative to it. Other file types are skipped. */
export async function plainFiles(folder: string, isWanted: (path: string) => boolean = () => true): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(ifMissing([]));
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter(isWanted)
    .sort();
}

/** Returns false when the file was removed meanwhile: a running node removes unreferenced files. */
export async function copyOne(from: string, to: string, how: 'link' | 'copy'): Promise<boolean> {
  await mkdir(dirname(to), { recursive: true, mode: FOLDER_MODE });
  if (how === 'link' && (await tryLink(from, to))) return true;
  const isThere = await copyFile(from, to, constants.COPYFILE_FICLONE).then(() => true, ifMissing(false));
  if (isThere) await sync(to);
  return isThere;
}

async function tryLink(from: string, to: string): Promise<boolean> {
  return link(from, to).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code === 'EEXIST',
  );
}

export async function sizeOf(path: string): Promise<number> {
  return lstat(path).then(({ size }) => size, ifMissing(0));
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function ifMissing<T>(otherwise: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT') return otherwise;
    throw error;
  };
}
