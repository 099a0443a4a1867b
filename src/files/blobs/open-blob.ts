/**
 * Opens a blob. A blob that a sweep has hidden, while it decides, is restored: a reader wins against deletion
 * (sweep-blobs.ts).
 */
import { constants } from 'node:fs';
import { type FileHandle, link, open, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, ifExists, isMissing } from './file-errors.ts';
import type { Layout } from './layout.ts';

/** A restored blob may be hidden again at once by another sweep; this many times in a row is practically impossible. */
const MAX_TRIES = 5;

/** Returns null when the blob does not exist. */
export async function openBlob(layout: Layout, sha256: string): Promise<FileHandle | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  return withBlob(layout, sha256, (path) => open(path, flags));
}

/** Calls `use` with the path of the blob; returns null when the blob does not exist. */
export async function withBlob<T>(
  layout: Layout,
  sha256: string,
  use: (path: string) => Promise<T>,
): Promise<T | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const answer = await ifExists(use(layout.blob(sha256)));
    if (answer !== null) return answer;
    if (!(await restoreDoomed(layout, sha256))) return null;
  }
  return null;
}

/** Restores hidden copies. Returns whether another try is worthwhile. */
async function restoreDoomed(layout: Layout, sha256: string): Promise<boolean> {
  const names = await ifExists(readdir(layout.shard(sha256)));
  const doomed = names?.filter((name) => name.startsWith(`${sha256}.doomed-`)) ?? [];
  for (const name of doomed) await restoreBlob(layout, sha256, join(layout.shard(sha256), name));
  // Meanwhile an add may have created it again, or another sweep may have hidden it under another name.
  return doomed.length > 0 || (names?.includes(sha256) ?? false);
}

/** Restores a blob by link, which never replaces: a blob that was added again meanwhile is newer and stays. */
export async function restoreBlob(layout: Layout, sha256: string, doomed: string): Promise<void> {
  try {
    await link(doomed, layout.blob(sha256));
  } catch (error) {
    if (isMissing(error)) return;
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  await ifExists(unlink(doomed));
  await rm(layout.unreferenced(sha256), { force: true });
}
