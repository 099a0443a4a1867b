/**
 * The folder in which a script works: new for every attempt, so that every run begins from the same state. Only the
 * checkpoint of an earlier attempt comes along.
 */
import { chmod, lchown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../core/job.ts';
import type { QueueSettings } from '../core/settings.ts';
import type { Attachments } from './attachments.ts';
import type { Home } from './home.ts';
import { jobFolder } from './home.ts';
import type { UserIds } from './script-order.ts';

export function workFolder(attempt: string): string {
  return join(attempt, 'work');
}

/** `attempt` is the attempt's own folder, in which the runner keeps its files too. */
export async function makeWorkFolder(
  attempt: string,
  job: RunningJob,
  context: { attachments: Attachments; settings: QueueSettings },
): Promise<string> {
  const work = workFolder(attempt);
  const attach = join(work, 'attach');
  await mkdir(work, { mode: 0o700 });
  await Promise.all([
    mkdir(attach, { mode: 0o700 }),
    mkdir(join(work, 'out'), { mode: 0o700 }),
    writeFile(join(work, 'data.json'), job.data, { mode: 0o600 }),
  ]);
  if (job.checkpoint !== null) await writeFile(join(work, 'checkpoint.json'), job.checkpoint, { mode: 0o600 });
  await context.attachments.stage(job.id, attach, context.settings.stage);
  return work;
}

/** To be entered, and not to be listed: what lies beside the work folder is not the user's. */
const ENTER_ONLY = 0o711;

/** The work folder belongs to the user that the script runs as, who can also get there by its path. */
export async function giveTo(
  work: string,
  { user, home, id }: { user: UserIds; home: Home; id: string },
): Promise<void> {
  const attempts = join(jobFolder(home, id), 'attempts');
  for (const folder of [home.jobs, jobFolder(home, id), attempts, join(work, '..')]) await chmod(folder, ENTER_ONLY);
  const inside = await readdir(work, { recursive: true });
  for (const path of ['', ...inside]) await lchown(join(work, path), user.uid, user.gid);
}

/** After its outputs were taken: the copies of attachments are no use to anybody. */
export async function removeWorkFolder(attempt: string): Promise<void> {
  await rm(workFolder(attempt), { recursive: true, force: true });
}
