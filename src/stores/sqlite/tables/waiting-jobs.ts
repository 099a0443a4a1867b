/**
 * Waiting jobs in claim order. A scheduled job is not marked `ready` and is in another index; the first claim after its
 * run time marks it. So a claim never reads jobs that cannot be claimed.
 *
 * The clock of a claim may be behind that of an earlier one (it was set back, or callers pass their own). Then jobs that
 * were marked too early are unmarked first.
 *
 * Most queues have neither scheduled nor returned jobs. The table remembers which, so that their claims take one query.
 * Invariant: what it remembers is true in the open transaction. `follow` gets every change of a waiting job, and
 * `forget` is called whenever rows changed in another way.
 */
import type { HistoryRow } from '../../../core/job/history.ts';
import type { Job } from '../../../core/job/job.ts';
import { claimOrder } from '../../../core/lifecycle/lifecycle.ts';
import type { LaterPage } from '../../../core/ports/table.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, firstRow } from '../engine/sqlite-database.ts';
import type { JobRow, ReadyRow } from './job-row.ts';
import { READY_COLUMNS, readJob, readReady, WAITING_COLUMNS } from './job-row.ts';
import type { StoreNumbers } from './store-numbers.ts';

export class WaitingJobs {
  readonly #numbers: StoreNumbers;
  readonly #mark: Statement;
  readonly #unpark: Statement;
  readonly #unmark: readonly Statement[];
  readonly #returned: Statement;
  readonly #ready: Statement;
  readonly #parked: Statement;
  readonly #parkedReturned: Statement;
  readonly #due: Statement;
  readonly #first: Statement;
  readonly #next: Statement;
  readonly #later: Statement;
  readonly #tooEarly: Statement;
  readonly #page: Statement;
  /** By queue: the earliest run time of the jobs that are not marked; null if all are. */
  readonly #firstLater = new Map<string, number | null>();
  /** Queues in which no marked job has returned. */
  readonly #withoutReturned = new Set<string>();

  constructor(db: Database, numbers: StoreNumbers) {
    const select = `SELECT ${WAITING_COLUMNS} FROM jobs`;
    const isReturned = 'ready = 1 AND returned_at IS NOT NULL';
    const isReady = 'ready = 1 AND returned_at IS NULL';
    this.#numbers = numbers;
    this.#mark = db.prepare(
      'UPDATE jobs INDEXED BY jobs_later SET ready = 1 WHERE ready = 0 AND queue = ? AND run_at <= ?',
    );
    this.#unpark = db.prepare('UPDATE jobs INDEXED BY jobs_parked SET ready = 1 WHERE ready = 2');
    this.#unmark = [
      db.prepare(`UPDATE jobs INDEXED BY jobs_returned SET ready = 0 WHERE ${isReturned} AND run_at > ?`),
      db.prepare(`UPDATE jobs INDEXED BY jobs_ready SET ready = 0 WHERE ${isReady} AND run_at > ?`),
    ];
    this.#returned = db.prepare(`${select} INDEXED BY jobs_returned
      WHERE ${isReturned} AND queue = ? AND run_at <= ? ORDER BY returned_at, seq LIMIT +?`);
    this.#ready = db.prepare(`SELECT ${READY_COLUMNS} FROM jobs INDEXED BY jobs_ready
      WHERE ${isReady} AND queue = ? AND run_at <= ? ORDER BY priority, turn, run_at, seq LIMIT +?`);
    this.#parked = db.prepare(`${select} INDEXED BY jobs_parked
      WHERE ready = 2 AND returned_at IS NULL AND queue = ? AND run_at <= ? ORDER BY priority, turn, run_at, seq LIMIT +?`);
    this.#parkedReturned = db.prepare(`${select} INDEXED BY jobs_parked
      WHERE ready = 2 AND returned_at IS NOT NULL AND queue = ? AND run_at <= ? ORDER BY returned_at, seq LIMIT +?`);
    this.#due = db.prepare(`${select} INDEXED BY jobs_later WHERE ready = 0 AND queue = ? AND run_at <= ?
      ORDER BY returned_at IS NULL, returned_at, iif(returned_at IS NULL, priority, 0),
        iif(returned_at IS NULL, turn, 0), iif(returned_at IS NULL, run_at, 0), seq LIMIT +?`);
    this.#first = db.prepare('SELECT min(run_at) FROM jobs INDEXED BY jobs_later WHERE ready = 0 AND queue = ?');
    this.#next = db.prepare(
      'SELECT min(run_at) FROM jobs INDEXED BY jobs_later WHERE ready = 0 AND queue = ? AND run_at > ?',
    );
    this.#later = db.prepare(
      'SELECT count(*) FROM jobs INDEXED BY jobs_later WHERE ready = 0 AND queue = ? AND run_at > ?',
    );
    // Data may be long, but is at the end of a row: this query does not read it.
    const isLater = `state = 'waiting' AND run_at > ?1 AND (run_at = created_at OR rest LIKE '%"delayMs":%')`;
    this.#page = db.prepare(
      `SELECT seq, iif(${isLater}, id, NULL) FROM jobs NOT INDEXED WHERE seq > ?2 ORDER BY seq LIMIT +?3`,
    );
    this.#tooEarly = db.prepare(
      `SELECT (SELECT count(*) FROM jobs INDEXED BY jobs_returned WHERE ${isReturned} AND queue = ?1 AND run_at > ?2)
        + (SELECT count(*) FROM jobs INDEXED BY jobs_ready WHERE ${isReady} AND queue = ?1 AND run_at > ?2)
        + (SELECT count(*) FROM jobs INDEXED BY jobs_parked WHERE ready = 2 AND queue = ?1 AND run_at > ?2)`,
    );
  }

  /** Forgets what is known of the queues: rows changed that this table did not see. */
  forget(): void {
    this.#firstLater.clear();
    this.#withoutReturned.clear();
  }

  /** Follows a change of a job: `before` or `after` is null for one that is new or deleted. */
  follow(before: Job | null, after: Job | null, row: HistoryRow | null): void {
    if (before?.state === 'waiting') this.#leaves(before);
    if (after?.state === 'waiting') this.#enters(after, row);
  }

  /** Follows jobs that were unparked, some of which may have returned. */
  followUnparked(): void {
    this.#withoutReturned.clear();
  }

  forClaim(queue: string, now: number, limit: number): readonly Job[] {
    this.#unmarkAfter(now);
    this.#markDue(queue, now);
    this.#numbers.readyAt(now);
    if (this.#withoutReturned.has(queue)) return this.#readyJobs(queue, now, limit);
    const jobs = this.#marked(queue, now, limit);
    if ((jobs[0]?.returnedAt ?? null) === null && limit > 0) this.#withoutReturned.add(queue);
    return jobs;
  }

  /** Returns the same order, parked jobs included, without marking: due jobs that are not marked yet are sorted in here. */
  peek(queue: string, now: number, { limit, offset }: { limit: number; offset: number }): readonly Job[] {
    const marked = this.#marked(queue, now, offset + limit);
    const others = [this.#due, this.#parked, this.#parkedReturned].flatMap((statement) =>
      allRows<JobRow>(statement, queue, now, offset + limit).map(readJob),
    );
    const jobs = others.length === 0 ? marked : [...marked, ...others].sort(claimOrder);
    return jobs.slice(offset, offset + limit);
  }

  nextRunAt(queue: string, now: number): number | null {
    this.#unmarkAfter(now);
    const first = this.#earliestLater(queue);
    if (first === null || first > now) return first;
    return firstRow<readonly [number | null]>(this.#next, queue, now)?.[0] ?? null;
  }

  countLater(queue: string, now: number): number {
    const [later] = firstRow<readonly [number]>(this.#later, queue, now) ?? [0];
    if (now >= this.#numbers.readyUntil) return later;
    const [tooEarly] = firstRow<readonly [number]>(this.#tooEarly, queue, now) ?? [0];
    return later + tooEarly;
  }

  /** Returns, of a page of all jobs, the scheduled ones whose run time the store computed. */
  laterAmong({ afterSeq, limit, now }: LaterPage): { ids: readonly string[]; afterSeq: number | null } {
    const rows = allRows<readonly [number, string | null]>(this.#page, now, afterSeq, limit);
    const ids = rows.map(([, id]) => id).filter((id) => id !== null);
    return { ids, afterSeq: rows.length < limit ? null : (rows.at(-1)?.[0] ?? null) };
  }

  #marked(queue: string, now: number, limit: number): readonly Job[] {
    const returned = allRows<JobRow>(this.#returned, queue, now, limit).map(readJob);
    if (returned.length >= limit) return returned;
    return [...returned, ...this.#readyJobs(queue, now, limit - returned.length)];
  }

  /** Returns ready jobs that have not returned. */
  #readyJobs(queue: string, now: number, limit: number): readonly Job[] {
    return allRows<ReadyRow>(this.#ready, queue, now, limit).map((row) => readReady(queue, row));
  }

  #markDue(queue: string, now: number): void {
    const first = this.#earliestLater(queue);
    if (first === null || first > now) return;
    this.#mark.run(queue, now);
    this.#firstLater.delete(queue);
    this.#withoutReturned.delete(queue);
  }

  #earliestLater(queue: string): number | null {
    const known = this.#firstLater.get(queue);
    if (known !== undefined) return known;
    const first = firstRow<readonly [number | null]>(this.#first, queue)?.[0] ?? null;
    this.#firstLater.set(queue, first);
    return first;
  }

  #leaves({ queue, runAt }: Job): void {
    const first = this.#firstLater.get(queue) ?? null;
    if (first !== null && runAt >= first) this.#firstLater.delete(queue);
  }

  #enters({ queue, runAt, returnedAt }: Job, row: HistoryRow | null): void {
    if (row === null || runAt > row.at) this.#firstLater.delete(queue);
    if (returnedAt !== null) this.#withoutReturned.delete(queue);
  }

  #unmarkAfter(now: number): void {
    if (now >= this.#numbers.readyUntil) return;
    // A ready job that represents parked ones may not be due now: all parked jobs become ready and are evaluated again.
    this.#unpark.run();
    for (const statement of this.#unmark) statement.run(now);
    this.#numbers.lowerReadyUntil(now);
    this.forget();
  }
}
