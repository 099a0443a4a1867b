/**
 * Creates a data directory: the directory itself, `queues/`, and a sample queue.
 *
 * Invariant: existing files are never changed. If `queues/` exists, no sample is added, even when it is empty: the
 * operator may have removed the sample.
 */
import { chmod, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from './home.ts';

const FOLDER_MODE = 0o700;
export const SAMPLE_QUEUE = 'sample';

/** Returns whether this call created it. */
export async function makeHome(home: Home): Promise<boolean> {
  await mkdir(home.root, { recursive: true, mode: FOLDER_MODE });
  if ((await stat(home.queues).catch(() => null)) !== null) return false;
  await mkdir(home.queues, { mode: FOLDER_MODE });
  const draft = join(home.queues, `.${SAMPLE_QUEUE}.new`);
  await copyFile(new URL('./queues/sample-queue.sh', import.meta.url), draft);
  await chmod(draft, FOLDER_MODE);
  // A rename: a node that scans the directory meanwhile never reads a partial script.
  await rename(draft, join(home.queues, SAMPLE_QUEUE));
  return true;
}
