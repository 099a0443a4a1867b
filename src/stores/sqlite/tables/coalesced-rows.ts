/** Waiting jobs by coalesce key, and jobs that are coalesced into others. The rows follow the job records. */
import type { Job } from '../../../core/job/job.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute } from '../engine/sqlite-database.ts';
import type { JobRow } from './job-row.ts';
import { readJob, WAITING_COLUMNS } from './job-row.ts';

export class CoalescedRows {
  readonly #enter: Statement;
  readonly #leave: Statement;
  readonly #coalesce: Statement;
  readonly #separate: Statement;
  readonly #equals: Statement;
  readonly #coalesced: Statement;

  constructor(db: Database) {
    this.#enter = db.prepare('INSERT OR IGNORE INTO equals (queue, key, run_at, seq) VALUES (?, ?, ?, ?)');
    this.#leave = db.prepare('DELETE FROM equals WHERE queue = ? AND key = ? AND run_at = ? AND seq = ?');
    this.#coalesce = db.prepare('INSERT OR IGNORE INTO folds (leader, seq) VALUES (?, ?)');
    this.#separate = db.prepare('DELETE FROM folds WHERE leader = ? AND seq = ?');
    this.#equals = db.prepare(`SELECT ${WAITING_COLUMNS} FROM equals CROSS JOIN jobs ON jobs.seq = equals.seq
      WHERE equals.queue = ? AND equals.key = ? AND equals.run_at <= ? ORDER BY equals.run_at, equals.seq LIMIT +?`);
    this.#coalesced = db.prepare(`SELECT ${WAITING_COLUMNS} FROM folds CROSS JOIN jobs ON jobs.seq = folds.seq
      WHERE folds.leader = ? ORDER BY folds.seq`);
  }

  /** Updates the rows of a job. `before` is null for a new job, `after` for a deleted one. */
  update(before: Job | null, after: Job | null): void {
    if (hasMoved(before, after)) {
      if (before !== null && before.coalesceKey !== null) execute(this.#leave, ...equalRow(before));
      if (after !== null && after.coalesceKey !== null) execute(this.#enter, ...equalRow(after));
    }
    const [left, entered] = [leaderOf(before), leaderOf(after)];
    if (left === entered) return;
    if (left !== null) execute(this.#separate, left, before?.seq ?? 0);
    if (entered !== null) execute(this.#coalesce, entered, after?.seq ?? 0);
  }

  equals(queue: string, key: string, { now, limit }: { now: number; limit: number }): readonly Job[] {
    return allRows<JobRow>(this.#equals, queue, key, now, limit).map(readJob);
  }

  into(leader: string): readonly Job[] {
    return allRows<JobRow>(this.#coalesced, leader).map(readJob);
  }
}

/** Spelled out so that a job without a key, which is the usual case, costs two comparisons. */
function hasMoved(before: Job | null, after: Job | null): boolean {
  const [was, is] = [before?.coalesceKey ?? null, after?.coalesceKey ?? null];
  if (was === null && is === null) return false;
  return was !== is || before?.runAt !== after?.runAt || before?.queue !== after?.queue;
}

function equalRow({ queue, coalesceKey, runAt, seq }: Job): readonly (string | number)[] {
  return [queue, coalesceKey ?? '', runAt, seq];
}

function leaderOf(job: Job | null): string | null {
  return job !== null && job.state === 'waiting' ? job.foldedInto : null;
}
