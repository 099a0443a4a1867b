/** Removes uploads that stood still for too long, their receipts, and what killed adds have left. */
import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Depot } from './depot.ts';
import { ifThere } from './file-errors.ts';

const DAY_MS = 86_400_000;
/** For an add that cannot be resumed: longer than any fsync takes, since another process may be at it. */
const ADD_MS = 3_600_000;

export async function sweepUploads(depot: Depot, uploadsOlderThanMs = DAY_MS): Promise<number> {
  let removed = 0;
  for (const name of await readdir(depot.layout.uploads)) {
    const limitMs = /\.(part|done)$/.test(name) ? uploadsOlderThanMs : ADD_MS;
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
