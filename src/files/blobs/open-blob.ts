/**
 * Finds a blob on disk. One that a sweep has taken out of sight, to decide about it, is put back: whoever asks
 * for a blob wins against its deletion (sweep.ts).
 */
import { constants } from 'node:fs';
import { type FileHandle, link, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, ifThere, isMissing } from './file-errors.ts';
import type { Layout } from './layout.ts';

/** A put-back blob may be doomed again at once by another sweep; nobody is that unlucky this often. */
const TRIES = 5;

/** Null when there is none. */
export async function openBlob(layout: Layout, sha256: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  return withBlob(layout, sha256, (path) => open(path, flags));
}

/** Does something with the blob's path; null when there is none. */
export async function withBlob<T>(
  layout: Layout,
  sha256: string,
  use: (path: string) => Promise<T>,
): Promise<T | null> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await ifThere(use(layout.blob(sha256)));
    if (answer !== null) return answer;
    if (!(await revive(layout, sha256))) return null;
  }
  return null;
}

/** Whether it is worth another look. */
async function revive(layout: Layout, sha256: string): Promise<boolean> {
  const names = await ifThere(readdir(layout.shard(sha256)));
  const doomed = names?.filter((name) => name.startsWith(`${sha256}.doomed-`)) ?? [];
  for (const name of doomed) await putBack(layout, sha256, join(layout.shard(sha256), name));
  // Between the two looks an add may have made it anew, or another sweep have doomed it under another name.
  return doomed.length > 0 || (names?.includes(sha256) ?? false);
}

/**
 * By link, which never replaces: an add that has made the blob anew in the meantime is
 * younger and stays.
 */
export async function putBack(layout: Layout, sha256: string, doomed: string): Promise<void> {
  try {
    await link(doomed, layout.blob(sha256));
  } catch (error) {
    if (isMissing(error)) return;
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  await ifThere(unlink(doomed));
  await rm(layout.unreferenced(sha256), { force: true });
}
