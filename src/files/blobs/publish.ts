/**
 * How a file becomes a blob. Visible means whole: the content is on the disk before the name is, and the name
 * is on the disk before anybody is told.
 *
 * Invariant: fsync(file), rename, fsync(folder), in this order.
 */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errnoOf } from './file-errors.ts';
import { FOLDER_MODE, type Layout } from './layout.ts';
import { syncFile } from './sync-file.ts';

export interface WholeFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly sha256: string;
}

export type Publish = (file: WholeFile) => Promise<void>;

export function createPublish(layout: Layout): Publish {
  const shards = new Set<string>();
  const makeShard = async (shard: string) => {
    if (shards.has(shard)) return;
    await makeFolder(shard);
    shards.add(shard);
  };
  return async ({ path, handle, sha256 }) => {
    await syncFile(handle, 'whole');
    const shard = layout.shard(sha256);
    await makeShard(shard);
    // Over a blob that is there already: the content is the same, or the old one was damaged and is now healed.
    await rename(path, layout.blob(sha256));
    await syncFolder(shard);
    await rm(layout.unreferenced(sha256), { force: true });
  };
}

/**
 * Also where the folder is there already its parent is synced: the one who made it may have crashed before that.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  await syncFolder(dirname(path));
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
