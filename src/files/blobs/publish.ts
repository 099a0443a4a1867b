/**
 * Publishes a file as a blob. Visible means complete: the content is on the disk before the name, and the name is on
 * the disk before the caller is notified.
 *
 * Invariant: fsync(file), rename, fsync(directory), in this order.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from './file-errors.ts';
import { DIRECTORY_MODE, type Layout } from './layout.ts';
import { syncFile } from './sync-file.ts';

export interface WholeFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly sha256: string;
}

export type Publish = (file: WholeFile) => Promise<void>;

export function createPublish(layout: Layout): Publish {
  const shards = new Set<string>();
  const createShard = async (shard: string) => {
    if (shards.has(shard)) return;
    await createDirectory(shard);
    shards.add(shard);
  };
  return async ({ path, handle, sha256 }) => {
    await syncFile(handle, 'whole');
    const shard = layout.shard(sha256);
    await createShard(shard);
    // Replaces an existing blob: the content is the same, or the old one was damaged and is now repaired.
    await rename(path, layout.blob(sha256));
    await syncDirectory(shard);
    await rm(layout.unreferenced(sha256), { force: true });
  };
}

/** Syncs the parent even when the directory exists: its creator may have crashed before that. */
export async function createDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: DIRECTORY_MODE });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  await syncDirectory(dirname(path));
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
