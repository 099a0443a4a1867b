/**
 * Running jobs by the end of their leases.
 *
 * Invariant: no lease of a queue ends before the time that is remembered for it. `follow` gets every new lease, and
 * `forget` is called whenever rows changed in another way.
 */
import type { Job, RunningJob } from '../../../core/job/job.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, firstRow } from '../engine/sqlite-database.ts';
import type { JobRow } from './job-row.ts';
import { JOB_COLUMNS, readJob } from './job-row.ts';

export class LeasedJobs {
  readonly #until: Statement;
  readonly #all: Statement;
  readonly #next: Statement;
  readonly #noneBefore = new Map<string, number>();

  constructor(db: Database) {
    const leased = `SELECT ${JOB_COLUMNS} FROM jobs INDEXED BY jobs_leased WHERE lease_until IS NOT NULL`;
    this.#until = db.prepare(`${leased} AND queue = ? AND lease_until <= ? ORDER BY lease_until, seq LIMIT +?`);
    this.#all = db.prepare(leased);
    this.#next = db.prepare(
      'SELECT min(lease_until) FROM jobs INDEXED BY jobs_leased WHERE lease_until IS NOT NULL AND queue = ?',
    );
  }

  forget(): void {
    this.#noneBefore.clear();
  }

  follow({ queue, lease }: Job): void {
    const known = this.#noneBefore.get(queue);
    if (lease !== null && known !== undefined && lease.until < known) this.#noneBefore.set(queue, lease.until);
  }

  /** Returns jobs whose lease ends by `time`, earliest first. */
  until(queue: string, time: number, limit: number): readonly RunningJob[] {
    if (time < (this.#noneBefore.get(queue) ?? Number.NEGATIVE_INFINITY)) return [];
    return allRows<JobRow>(this.#until, queue, time, limit).map(readRunning);
  }

  all(): readonly RunningJob[] {
    return allRows<JobRow>(this.#all).map(readRunning);
  }

  nextEnd(queue: string): number | null {
    const first = firstRow<readonly [number | null]>(this.#next, queue)?.[0] ?? null;
    this.#noneBefore.set(queue, first ?? Number.POSITIVE_INFINITY);
    return first;
  }
}

/** A row with a lease is a running job: state and lease are written together. */
function readRunning(row: JobRow): RunningJob {
  return readJob(row) as RunningJob;
}
