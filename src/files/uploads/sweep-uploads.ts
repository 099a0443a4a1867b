/** Removes uploads that were idle for too long, their receipts, and files that killed adds left. */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobStore } from '../blobs/blob-store.ts';
import { ifExists } from '../blobs/file-errors.ts';

const DAY_MS = 86_400_000;
/** For an add that cannot be resumed: longer than any fsync, because another process may be writing it. */
const ADD_MS = 3_600_000;

export async function sweepUploads(blobStore: BlobStore, uploadsOlderThanMs = DAY_MS): Promise<number> {
  let removed = 0;
  for (const name of await readdir(blobStore.layout.uploads)) {
    const limitMs = /\.(part|done)$/.test(name) ? uploadsOlderThanMs : ADD_MS;
    const path = join(blobStore.layout.uploads, name);
    if (blobStore.busy.has(path) || !(await isOlder(blobStore, path, limitMs))) continue;
    if ((await ifExists(unlink(path).then(() => true))) !== null) removed += 1;
  }
  return removed;
}

async function isOlder({ now }: BlobStore, path: string, limitMs: number): Promise<boolean> {
  const stats = await ifExists(stat(path));
  return stats !== null && now() - stats.mtimeMs >= limitMs;
}
