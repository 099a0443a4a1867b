/** Removes uploads that stood still for too long, their receipts, and what killed adds have left. */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Depot } from './depot.ts';
import { ifThere } from './file-errors.ts';

export interface UploadAges {
  /** What somebody may come back to. */
  readonly uploadsOlderThanMs: number;
  /** What nobody can: the file of an add that was not finished. */
  readonly olderThanMs: number;
}

export async function sweepUploads(depot: Depot, ages: UploadAges): Promise<number> {
  let removed = 0;
  for (const name of await readdir(depot.layout.uploads)) {
    const limitMs = /\.(part|done)$/.test(name) ? ages.uploadsOlderThanMs : ages.olderThanMs;
    const path = join(depot.layout.uploads, name);
    if (depot.busy.has(path) || !(await isOlder(depot, path, limitMs))) continue;
    if ((await ifThere(unlink(path).then(() => true))) !== null) removed += 1;
  }
  return removed;
}

async function isOlder({ now }: Depot, path: string, limitMs: number): Promise<boolean> {
  const stats = await ifThere(stat(path));
  return stats !== null && now() - stats.mtimeMs >= limitMs;
}
