/**
 * The home folder on its first day: the folder itself, the folder of the queues, and one queue to try things with.
 *
 * Invariant: what is there already is never changed. A home whose `queues/` exists gets no sample, also when it is empty:
 * somebody may have removed it.
 */
import { chmod, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Home } from './home.ts';

const FOLDER_MODE = 0o700;
export const SAMPLE_QUEUE = 'sample';

/** Whether it was made just now. */
export async function makeHome(home: Home): Promise<boolean> {
  await mkdir(home.root, { recursive: true, mode: FOLDER_MODE });
  if ((await stat(home.queues).catch(() => null)) !== null) return false;
  await mkdir(home.queues, { mode: FOLDER_MODE });
  const draft = join(home.queues, `.${SAMPLE_QUEUE}.new`);
  await copyFile(new URL('./queues/sample-queue.sh', import.meta.url), draft);
  await chmod(draft, FOLDER_MODE);
  // By a rename: a node that looks at the folder meanwhile sees no half of a script.
  await rename(draft, join(home.queues, SAMPLE_QUEUE));
  return true;
}
