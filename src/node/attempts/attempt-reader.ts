/**
 * Reads the attempts of a job: outcomes, usage and logs, also while they run. A log is in the files of this node, or in
 * the store: then a copy of it is read. Secrets are masked in every way to read a log.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from '../../core/job/job.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import { loadUsage } from '../../runner/attempt/accounting.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import type { Usage } from '../../runner/attempt/usage.ts';
import type { AttemptView } from '../../wire/attempt-view.ts';
import type { Home } from '../home.ts';
import { attemptFolder } from '../home.ts';
import { registeredAttempts } from '../scripts/attempt-registry.ts';
import { secretsOfAttempt } from '../scripts/secrets.ts';
import { AttemptLogReader } from './attempt-log-reader.ts';
import { AttemptPoller } from './attempt-poller.ts';
import { isEarlierPart, readAttemptRecord, recordPath } from './attempt-record.ts';
import { viewAttempts } from './attempt-view.ts';
import type { LogLine } from './log-lines.ts';
import { lastLines } from './log-lines.ts';
import { StoredLogCopies } from './stored-log-copies.ts';

export type AttemptsResult = { readonly ok: true; readonly attempts: readonly AttemptView[] } | Refused;
export type LogResult = { readonly ok: true; readonly log: AttemptLogReader } | Refused;

export interface AttemptSummary {
  readonly usage: Usage;
  /** The last line of the log. */
  readonly last: LogLine | null;
}

/** Catches up on lost events. */
const POLL_INTERVAL_MS = 1_000;

export class AttemptReader {
  readonly #home: Home;
  readonly #store: Store;
  readonly #copies: StoredLogCopies;

  constructor(home: Home, store: Store) {
    this.#home = home;
    this.#store = store;
    this.#copies = new StoredLogCopies(store, () => emptyFolder(join(home.root, 'log-copies')));
  }

  async list(id: string): Promise<AttemptsResult> {
    const job = await this.#find(id);
    if (job === null) return refuse('not-found', `job ${id}`);
    return { ok: true, attempts: await this.#views(job) };
  }

  /** `latest` is the attempt that runs, or the last one. */
  async log(id: string, which: number | 'latest'): Promise<LogResult> {
    const job = await this.#find(id);
    if (job === null) return refuse('not-found', `job ${id}`);
    const attempt = which === 'latest' ? job.attempt : which;
    if (attempt === 0 || attempt > job.attempt) return refuse('not-found', `attempt ${which} of job ${id}`);
    const folder = await this.#logFolder(id, attempt);
    const secrets = await secretsOfAttempt(folder);
    const isRunning = job.state === 'running' && job.attempt === attempt && !(await hasEnded(folder, secrets));
    const refresh = () => this.#logFolder(id, attempt);
    const subject = { store: this.#store, id, attempt, folder, secrets, isRunning, refresh };
    return { ok: true, log: new AttemptLogReader(subject) };
  }

  async #views(job: Job): Promise<readonly AttemptView[]> {
    const { jobs, logs } = this.#store;
    return viewAttempts(this.#home, job, { history: await jobs.history(job.id), logs });
  }

  /** Returns the folder of this node's files, or else of a copy of the log in the store. */
  async #logFolder(id: string, attempt: number): Promise<string> {
    const own = attemptFolder(this.#home, id, attempt);
    if (existsSync(filesOf(own).log) || this.isHere(id, attempt)) return own;
    return (await this.#copies.refresh(id, attempt)) ?? own;
  }

  /** Returns whether this node ran the attempt, or has a copy of its files. */
  isHere(id: string, attempt: number): boolean {
    return existsSync(recordPath(attemptFolder(this.#home, id, attempt)));
  }

  /** Like `isHere`, but false for files from before a suspension if another node resumed the attempt since. */
  async isLatestHere(job: Job, attempt: number): Promise<boolean> {
    if (!this.isHere(job.id, attempt)) return false;
    if (job.steps === null) return true;
    const record = await readAttemptRecord(attemptFolder(this.#home, job.id, attempt));
    return record === null || !isEarlierPart(record, await this.#store.jobs.history(job.id));
  }

  /**
   * Returns the summary of a running attempt for lists. Reads only its files: a list must not read the store for every
   * row.
   */
  async glance(id: string, attempt: number): Promise<AttemptSummary> {
    const folder = attemptFolder(this.#home, id, attempt);
    const secrets = await secretsOfAttempt(folder);
    const { lines } = await lastLines(folder, 1, { secrets, isRunning: true });
    return { usage: loadUsage(filesOf(folder).usage), last: lines.at(-1) ?? null };
  }

  /** Returns the attempts that run here, up to a limit. */
  async running(limit: number): Promise<readonly { readonly id: string; readonly attempt: number }[]> {
    return (await registeredAttempts(this.#home)).slice(0, limit);
  }

  /** Like `log`, but waits for the first attempt of a job until the signal is aborted. */
  async logWhenStarted(id: string, which: number | 'latest', signal: AbortSignal): Promise<LogResult> {
    const poller = new AttemptPoller({ store: this.#store, id, attempt: 0 }, POLL_INTERVAL_MS);
    try {
      for (;;) {
        const found = await this.log(id, which);
        const job = found.ok ? null : await this.#find(id);
        if (job === null || !isNotStarted(job, which) || signal.aborted) return found;
        await poller.next(signal);
      }
    } finally {
      poller.close();
    }
  }

  async #find(id: string): Promise<Job | null> {
    return (await this.#store.jobs.find([id]))[0] ?? null;
  }
}

/** Copies of an earlier process are deleted. */
async function emptyFolder(folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  return folder;
}

/**
 * An attempt that has ended but is not settled: nothing of its log is held back. Checked only where there are secrets.
 */
async function hasEnded(folder: string, secrets: readonly string[]): Promise<boolean> {
  return secrets.length > 0 && (await readAttemptRecord(folder))?.end !== undefined;
}

function isNotStarted(job: Job, which: number | 'latest'): boolean {
  return which === 'latest' && job.attempt === 0 && (job.state === 'draft' || job.state === 'waiting');
}
