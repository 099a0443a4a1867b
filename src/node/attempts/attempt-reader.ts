/**
 * What a node can tell of the attempts of a job: their ends, their accounts, and their logs, which it reads while they
 * are written. It only reads. Secrets come out as stars whichever way a log is read.
 */
import { existsSync } from 'node:fs';
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
import { markedIn } from '../scripts/attempt-registry.ts';
import { secretsOfAttempt } from '../scripts/secrets.ts';
import { AttemptLogReader } from './attempt-log-reader.ts';
import { AttemptClock } from './attempt-progress.ts';
import { readAttemptRecord, recordPath } from './attempt-record.ts';
import { viewAttempts } from './attempt-view.ts';
import type { LogLine } from './log-lines.ts';
import { lastLines } from './log-lines.ts';

export type AttemptsResult = { readonly ok: true; readonly attempts: readonly AttemptView[] } | Refused;
export type LogResult = { readonly ok: true; readonly log: AttemptLogReader } | Refused;

export interface Glance {
  readonly usage: Usage;
  /** The last line of its log. */
  readonly last: LogLine | null;
}

/** The net under events that were lost. */
const LOOK_EVERY_MS = 1_000;

export class AttemptReader {
  readonly #home: Home;
  readonly #store: Store;

  constructor(home: Home, store: Store) {
    this.#home = home;
    this.#store = store;
  }

  async list(id: string): Promise<AttemptsResult> {
    const job = await this.#find(id);
    if (job === null) return refuse('not-found', `job ${id}`);
    return { ok: true, attempts: await viewAttempts(this.#home, job, await this.#store.jobs.history(id)) };
  }

  /** `latest` is the one that runs, or that ran last. */
  async log(id: string, which: number | 'latest'): Promise<LogResult> {
    const job = await this.#find(id);
    if (job === null) return refuse('not-found', `job ${id}`);
    const attempt = which === 'latest' ? job.attempt : which;
    if (attempt === 0 || attempt > job.attempt) return refuse('not-found', `attempt ${which} of job ${id}`);
    const folder = attemptFolder(this.#home, id, attempt);
    const secrets = await secretsOfAttempt(folder);
    const isRunning = job.state === 'running' && job.attempt === attempt && !(await hasEnded(folder, secrets));
    return { ok: true, log: new AttemptLogReader({ store: this.#store, id, attempt, folder, secrets, isRunning }) };
  }

  /** Whether this node ran it, or keeps a copy of what one did. */
  isHere(id: string, attempt: number): boolean {
    return existsSync(recordPath(attemptFolder(this.#home, id, attempt)));
  }

  /** What a look at many running jobs shows of each. From its files alone: the store is not asked for every row. */
  async glance(id: string, attempt: number): Promise<Glance> {
    const folder = attemptFolder(this.#home, id, attempt);
    const secrets = await secretsOfAttempt(folder);
    const { lines } = await lastLines(folder, 1, { secrets, isRunning: true });
    return { usage: loadUsage(filesOf(folder).usage), last: lines.at(-1) ?? null };
  }

  /** Which scripts run here, at most so many. */
  async running(limit: number): Promise<readonly { readonly id: string; readonly attempt: number }[]> {
    return (await markedIn(this.#home)).slice(0, limit);
  }

  /** As `log`, for a job whose first attempt may be still to come: waits for it as long as the signal lets it. */
  async logWhenBegun(id: string, which: number | 'latest', signal: AbortSignal): Promise<LogResult> {
    const clock = new AttemptClock({ store: this.#store, id, attempt: 0 }, LOOK_EVERY_MS);
    try {
      for (;;) {
        const found = await this.log(id, which);
        const job = found.ok ? null : await this.#find(id);
        if (job === null || !isToCome(job, which) || signal.aborted) return found;
        await clock.next(signal);
      }
    } finally {
      clock.close();
    }
  }

  async #find(id: string): Promise<Job | null> {
    return (await this.#store.jobs.find([id]))[0] ?? null;
  }
}

/** It may have ended and not be settled yet: then nothing of its log is held back any more. Asked where anything could be. */
async function hasEnded(folder: string, secrets: readonly string[]): Promise<boolean> {
  return secrets.length > 0 && (await readAttemptRecord(folder))?.end !== undefined;
}

function isToCome(job: Job, which: number | 'latest'): boolean {
  return which === 'latest' && job.attempt === 0 && (job.state === 'draft' || job.state === 'waiting');
}
