/**
 * The working directory of a script: new for every attempt, so that every run starts from the same state. Only the
 * checkpoint of an earlier attempt is copied into it. A script of an RQ queue finds `../msg` and `../attach` too.
 *
 * The few small files that every attempt needs are written and removed synchronously, because the thread pool takes
 * longer. Large or rare files are written asynchronously.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { chmod, lchown, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { ParentJob } from '../../files/attachments/parents.ts';
import type { Home } from '../home.ts';
import { jobFolder } from '../home.ts';
import type { UserIds } from './script-order.ts';

export const DATA = 'data.json';
export const OUT = 'out';
export const ATTACH = 'attach';
/** RQ's name of the message, beside the working directory. */
const MESSAGE = 'msg';
/** Outcomes of the jobs that this job depends on; only for a job that has any. */
export const PARENTS = 'parents.json';

export function workdirOf(attempt: string): string {
  return join(attempt, 'work');
}

/** Writes the input files. `attempt` is the attempt's directory, which holds the runner's files too. */
export async function fillWorkdir(attempt: string, job: RunningJob, contents: WorkdirContents): Promise<string> {
  const { files, stage } = contents;
  const work = workdirOf(attempt);
  writeFileSync(join(work, DATA), job.data, { mode: 0o600 });
  if (job.checkpoint !== null) writeFileSync(join(work, 'checkpoint.json'), job.checkpoint, { mode: 0o600 });
  if (job.parents !== null)
    await writeFile(join(work, PARENTS), JSON.stringify(await contents.parents()), { mode: 0o600 });
  const hasInput = files.some(({ direction }) => direction === 'in');
  if (hasInput) await stage(files, join(work, ATTACH));
  if (contents.message !== null) {
    writeFileSync(join(attempt, MESSAGE), contents.message, { mode: 0o644 });
    if (hasInput) symlinkSync(join('work', ATTACH), join(attempt, ATTACH));
  }
  return work;
}

export interface WorkdirContents {
  /** The job's attachments. */
  readonly files: readonly Attachment[];
  stage(files: readonly Attachment[], folder: string): Promise<void>;
  parents(): Promise<readonly ParentJob[]>;
  /** RQ's message for a script of an RQ queue, else null. */
  readonly message: string | null;
}

/** What a suspended attempt continues with: its record, its log with the secrets to mask in it. */
export const KEPT_ON_RESUME: readonly string[] = ['attempt.jsonl', 'log', 'log.index', 'secrets.json'];

/**
 * Creates the directories of an attempt. Without a registry entry, an existing directory is from a different attempt
 * and is removed, or from the same attempt before it was suspended: then some files are kept.
 */
export function createFolders(attempt: string, kept: readonly string[]): void {
  // From the top, since most jobs have no directory yet: from below, two calls would fail first.
  const attempts = dirname(attempt);
  for (const folder of [dirname(attempts), attempts]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (mkdirSync(attempt, { recursive: true, mode: 0o700 }) === undefined) {
    const others = readdirSync(attempt).filter((name) => !kept.includes(name));
    for (const name of others) rmSync(join(attempt, name), { recursive: true, force: true });
  }
  const work = workdirOf(attempt);
  for (const folder of [work, join(work, OUT)]) mkdirSync(folder, { mode: 0o700 });
}

/** Searchable but not readable: the files beside the workdir are not the user's. */
const ENTER_ONLY = 0o711;

/** Gives the workdir to the user that the script runs as, and lets that user reach it by its path. */
export async function changeOwner(
  work: string,
  { user, home, id }: { user: UserIds; home: Home; id: string },
): Promise<void> {
  const attempts = join(jobFolder(home, id), 'attempts');
  for (const folder of [home.jobs, jobFolder(home, id), attempts, join(work, '..')]) await chmod(folder, ENTER_ONLY);
  const inside = await readdir(work, { recursive: true });
  for (const path of ['', ...inside]) await lchown(join(work, path), user.uid, user.gid);
}

/** Called after the outputs are stored: the copies of attachments are no longer needed. */
export async function removeWorkdir(attempt: string): Promise<void> {
  const work = workdirOf(attempt);
  if (existsSync(join(attempt, MESSAGE)))
    for (const name of [ATTACH, MESSAGE]) rmSync(join(attempt, name), { force: true });
  try {
    // Most contain nothing else. `rm` would make a dozen calls.
    unlinkSync(join(work, DATA));
    rmdirSync(join(work, OUT));
    rmdirSync(work);
  } catch {
    await rm(work, { recursive: true, force: true });
  }
}
