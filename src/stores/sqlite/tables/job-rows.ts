/**
 * The rows of jobs and their histories: finds, inserts, updates and deletes them.
 *
 * Running jobs are cached, since heartbeats and settlements will follow: most of these calls need no query.
 * Invariant: the cache equals what the open transaction sees. `forget` is called whenever another engine wrote or a
 * transaction was rolled back.
 */
import type { HistoryRow } from '../../../core/job/history.ts';
import { MAX_HISTORY } from '../../../core/job/history.ts';
import type { Job } from '../../../core/job/job.ts';
import type { PlainJob, Transition } from '../../../core/lifecycle/lifecycle.ts';
import { createdLike } from '../../../core/lifecycle/lifecycle.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { execute, firstRow } from '../engine/sqlite-database.ts';
import { isForbidden } from '../engine/sqlite-problem.ts';
import type { RowUpdate } from '../row-batches.ts';
import { PendingInserts, PendingUpdates } from '../row-batches.ts';
import { packFirstRow, packRow, packRows, unpackRows } from './history-text.ts';
import type { SqlValue } from './job-columns.ts';
import {
  assignmentsOf,
  blockedColumn,
  difference,
  draftColumn,
  failedColumns,
  leaseColumns,
  leaseStatusColumns,
  readyColumn,
  resultSum,
} from './job-columns.ts';
import type { JobRow } from './job-row.ts';
import { JOB_COLUMNS, readJob, restText, sumOf } from './job-row.ts';

const MAX_CACHED = 20_000;
/** Jobs with longer data are not cached, to limit the memory. */
const MAX_CACHED_DATA = 4_096;

/** The bit after those of job-columns.ts. */
const HISTORY = 1 << 24;

const COLUMNS = `seq, id, queue, state, ready, priority, run_at, returned_at, created_at, attempt, turn,
  token, worker, lease_ms, lease_until, claimed_at, started_at, pid, cancel_asked_at, pause_asked_at, ended_at,
  draft_at, failed_at, failure_group, blocked, name, rest, result, checkpoint, data, data_sum, result_sum, history`;

export class JobRows {
  readonly #db: Database;
  readonly #byId: Statement;
  readonly #history: Statement;
  readonly #cutHistory: Statement;
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #tag: Statement;
  readonly #untag: Statement;
  readonly #updates = new Map<number, Statement>();
  readonly #running = new Map<string, Job>();
  readonly #pendingInserts: PendingInserts;
  readonly #pendingUpdates: PendingUpdates;
  #presumesNew = false;
  /** The last template whose jobs are plain. */
  #plainTemplate: Job | null = null;

  constructor(db: Database) {
    this.#db = db;
    this.#byId = db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs WHERE id = ?`);
    this.#history = db.prepare('SELECT history, created_at FROM jobs WHERE id = ?');
    this.#cutHistory = db.prepare('UPDATE jobs SET history = ?, history_rows = ? WHERE seq = ?');
    this.#insert = db.prepare(`INSERT INTO jobs (${COLUMNS}) VALUES (${COLUMNS.replaceAll(/\w+/g, '?')})`);
    this.#delete = db.prepare('DELETE FROM jobs WHERE seq = ?');
    this.#tag = db.prepare('INSERT OR IGNORE INTO tags (tag, seq) VALUES (?, ?)');
    this.#untag = db.prepare('DELETE FROM tags WHERE tag = ? AND seq = ?');
    this.#pendingInserts = new PendingInserts(db);
    this.#pendingUpdates = new PendingUpdates(db, (update) => this.#write(update));
  }

  forget(): void {
    this.#running.clear();
    this.#pendingInserts.forget();
    this.#pendingUpdates.forget();
  }

  /** Writes what is pending. */
  flush(): void {
    this.#pendingInserts.flush();
    this.#pendingUpdates.flush();
  }

  /** Runs an add without a query for each id: the unique index rejects an id that exists. */
  presumingNew<T>(add: () => T): T {
    this.#presumesNew = true;
    try {
      return add();
    } finally {
      this.#presumesNew = false;
    }
  }

  get(id: string): Job | undefined {
    if (this.#presumesNew) return undefined;
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    this.flush();
    const row = firstRow<JobRow>(this.#byId, id);
    return row === undefined ? undefined : readJob(row);
  }

  history(id: string): readonly HistoryRow[] {
    this.flush();
    const row = firstRow<readonly [string, number]>(this.#history, id);
    return row === undefined ? [] : unpackRows(...row);
  }

  /** Inserts `createdLike(template, input, seq)`. */
  insertLike(template: Transition, input: PlainJob, seq: number): void {
    if (template.job !== this.#plainTemplate) {
      const { job, row } = createdLike(template, input, seq);
      if (!isPlain(job, row)) return this.insert(job, row);
      this.#plainTemplate = template.job;
    }
    this.#pendingInserts.add(template.job, input, seq);
  }

  insert(job: Job, row: HistoryRow): void {
    if (isPlain(job, row)) this.#pendingInserts.add(job, job, job.seq);
    else this.#insertRow(job, row);
    for (const tag of job.tags) this.#tag.run(tag, job.seq);
    this.#cache(job);
  }

  #insertRow(job: Job, row: HistoryRow): void {
    const history = packFirstRow(row, job.createdAt);
    execute(this.#insert, ...allColumns(job, row.at), restText(job), ...textColumns(job), history);
  }

  /** Inserts a job with its whole history. An earlier row of the job must be deleted before. */
  restore(job: Job, history: readonly HistoryRow[], at: number): void {
    const text = packRows(history, job.createdAt);
    this.flush();
    execute(this.#insert, ...allColumns(job, at), restText(job), ...textColumns(job), '');
    execute(this.#cutHistory, text, history.length, job.seq);
    for (const tag of job.tags) this.#tag.run(tag, job.seq);
  }

  update(before: Job, after: Job, row: HistoryRow | null): void {
    const { key, values } = difference(before, after, row === null ? null : row.at);
    this.#pendingInserts.flush();
    if (row !== null) this.#pendingUpdates.add({ key, values, before, after, row });
    else if (key !== 0) this.#run(key, after, values);
    if (before.tags !== after.tags) this.#retag(before, after);
    this.#cache(after);
  }

  /** As `update(before, change.job, change.row)`, like a change that differs only in what is the job's own. */
  updateLike(like: Transition, before: Job, { job, row }: Transition): void {
    if (!this.#pendingUpdates.addLike(like.job, job, row)) {
      this.update(before, job, row);
      this.#pendingUpdates.nextLike(like.job);
    } else this.#cache(job);
  }

  #write({ key, values, after, row }: RowUpdate): void {
    this.#run(key | HISTORY, after, [...values, `,${packRow(row, after.createdAt)}`]);
  }

  append(job: Job, row: HistoryRow): void {
    this.#run(HISTORY, job, [`,${packRow(row, job.createdAt)}`]);
  }

  remove(job: Job): void {
    this.flush();
    this.#delete.run(job.seq);
    for (const tag of job.tags) this.#untag.run(tag, job.seq);
    this.#running.delete(job.id);
  }

  /** A CHECK constraint rejects an update with a history row while the history is full: it is cut, and the update retried. */
  #run(key: number, job: Job, values: SqlValue[]): void {
    this.flush();
    const statement = this.#updateFor(key);
    values.push(job.seq);
    try {
      execute(statement, ...values);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.#cut(job);
      execute(statement, ...values);
    }
  }

  #cut({ id, seq, createdAt }: Job): void {
    const rows = this.history(id);
    const kept = [...rows.slice(0, 1), ...rows.slice(2 - MAX_HISTORY)];
    this.#cutHistory.run(packRows(kept, createdAt), kept.length, seq);
  }

  #updateFor(key: number): Statement {
    let statement = this.#updates.get(key);
    if (statement === undefined) {
      statement = this.#db.prepare(updateSql(key));
      this.#updates.set(key, statement);
    }
    return statement;
  }

  #retag(before: Job, after: Job): void {
    for (const tag of before.tags) this.#untag.run(tag, before.seq);
    for (const tag of after.tags) this.#tag.run(tag, after.seq);
  }

  #cache(job: Job): void {
    const isCacheable = job.lease !== null && job.data.length <= MAX_CACHED_DATA;
    if (isCacheable && this.#running.size < MAX_CACHED) this.#running.set(job.id, job);
    else if (this.#running.size > 0) this.#running.delete(job.id);
  }
}

/** Returns whether a new job waits for a worker and has only default fields, as nearly every job does. */
function isPlain(job: Job, row: HistoryRow): boolean {
  const isNew = job.attempt === 0 && job.lease === null && job.returnedAt === null && job.endedAt === null;
  const isBare = job.name === null && job.result === null && job.checkpoint === null;
  const isReady = job.state === 'waiting' && job.runAt === job.createdAt && job.runAt <= row.at;
  return isNew && isBare && isReady && restText(job) === null && packFirstRow(row, job.createdAt) === '';
}

const NO_LEASE = Array<null>(9).fill(null);

/** The values of COLUMNS up to `name`. */
function allColumns(job: Job, at: number): readonly SqlValue[] {
  const { seq, id, queue, state, priority, runAt, returnedAt, createdAt, attempt, turn, lease, endedAt, name } = job;
  const leased = lease === null ? NO_LEASE : [...leaseColumns(lease), ...leaseStatusColumns(lease)];
  const first = [seq, id, queue, state, readyColumn(job, at), priority, runAt, returnedAt, createdAt, attempt, turn];
  return [...first, ...leased, endedAt, draftColumn(job), ...failedColumns(job), blockedColumn(job), name];
}

/** The values of COLUMNS from `result` to `result_sum`. */
function textColumns({ result, checkpoint, data }: Job): readonly SqlValue[] {
  return [result, checkpoint, data, sumOf(data), resultSum(result)];
}

function updateSql(key: number): string {
  const sets = [...assignmentsOf(key)];
  if (key & HISTORY) sets.push('history = history || ?', 'history_rows = history_rows + 1');
  return `UPDATE jobs SET ${sets.join(', ')} WHERE seq = ?`;
}
