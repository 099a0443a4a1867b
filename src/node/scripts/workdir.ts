/**
 * The folder in which a script works: new for every attempt, so that every run begins from the same state. Only the
 * checkpoint of an earlier attempt comes along.
 *
 * The few small files that every attempt needs are written at once, without the way through the pool of threads, which
 * takes longer than the writing. Whatever may be large, or is seldom there, goes that way.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, lchown, readdir, rm, rmdir, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { ParentJob } from '../../files/attachments/parents.ts';
import type { Home } from '../home.ts';
import { jobFolder } from '../home.ts';
import type { UserIds } from './script-order.ts';

export const DATA = 'data.json';
export const OUT = 'out';
/** How the jobs that it waited for ended; only for one that waited. */
export const PARENTS = 'parents.json';

export function workFolder(attempt: string): string {
  return join(attempt, 'work');
}

/** `attempt` is the attempt's own folder, in which the runner keeps its files too. */
export async function fillWorkFolder(attempt: string, job: RunningJob, filling: Filling): Promise<string> {
  const { files, stage } = filling;
  const work = workFolder(attempt);
  writeFileSync(join(work, DATA), job.data, { mode: 0o600 });
  if (job.checkpoint !== null) writeFileSync(join(work, 'checkpoint.json'), job.checkpoint, { mode: 0o600 });
  if (job.parents !== null)
    await writeFile(join(work, PARENTS), JSON.stringify(await filling.parents()), { mode: 0o600 });
  if (files.some(({ direction }) => direction === 'in')) await stage(files, join(work, 'attach'));
  return work;
}

export interface Filling {
  /** The job's files. */
  readonly files: readonly Attachment[];
  stage(files: readonly Attachment[], folder: string): Promise<void>;
  parents(): Promise<readonly ParentJob[]>;
}

/** All folders of an attempt. Without a mark, what is there already is no attempt of this job: it goes. */
export function makeFolders(attempt: string): void {
  // One after the other from the top, since most jobs have no folder yet: from below, two calls would fail first.
  const attempts = dirname(attempt);
  for (const folder of [dirname(attempts), attempts]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (mkdirSync(attempt, { recursive: true, mode: 0o700 }) === undefined) {
    rmSync(attempt, { recursive: true, force: true });
    mkdirSync(attempt, { mode: 0o700 });
  }
  mkdirSync(join(workFolder(attempt), OUT), { recursive: true, mode: 0o700 });
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
  const work = workFolder(attempt);
  try {
    // Most hold nothing else. `rm` would make a dozen calls.
    await unlink(join(work, DATA));
    await rmdir(join(work, OUT));
    await rmdir(work);
  } catch {
    await rm(work, { recursive: true, force: true });
  }
}
