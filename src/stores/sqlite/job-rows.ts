/**
 * The rows of jobs and their histories: found by id, inserted, updated, removed.
 *
 * Jobs that run are remembered, since their worker will speak of them again: most heartbeats and settlements
 * need no reading. Invariant: what is remembered is what the open transaction sees; `forget` is called whenever
 * somebody else wrote or a transaction was undone.
 */
import type { HistoryRow } from '../../core/history.ts';
import { MAX_HISTORY } from '../../core/history.ts';
import type { Job } from '../../core/job.ts';
import { packRow, packRows, unpackRows } from './history-text.ts';
import type { SqlValue } from './job-columns.ts';
import { columnsOf, difference, JOB_COLUMNS, UNBORN } from './job-columns.ts';
import type { JobRow } from './job-row.ts';
import { readJob } from './job-row.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { firstRow } from './sqlite-database.ts';

const MAX_REMEMBERED = 20_000;
/** What is longer is read again, so that what is remembered stays small. */
const MAX_REMEMBERED_DATA = 4_096;

/** Beyond the bits of a job's own columns. */
const READY_BIT = 2 ** 50;
const HISTORY_BIT = 2 ** 51;

export class JobRows {
  readonly #db: Database;
  readonly #byId: Statement;
  readonly #history: Statement;
  readonly #cutHistory: Statement;
  readonly #appendHistory: Statement;
  readonly #delete: Statement;
  readonly #tag: Statement;
  readonly #untag: Statement;
  readonly #inserts = new Map<number, Statement>();
  readonly #updates = new Map<number, Statement>();
  readonly #running = new Map<string, Job>();

  constructor(db: Database) {
    this.#db = db;
    this.#byId = db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs WHERE id = ?`);
    this.#history = db.prepare('SELECT history FROM jobs WHERE id = ?');
    this.#cutHistory = db.prepare('UPDATE jobs SET history = ?, history_rows = ? WHERE seq = ?');
    this.#appendHistory = db.prepare(updateSql(HISTORY_BIT));
    this.#delete = db.prepare('DELETE FROM jobs WHERE seq = ?');
    this.#tag = db.prepare('INSERT OR IGNORE INTO tags (tag, seq) VALUES (?, ?)');
    this.#untag = db.prepare('DELETE FROM tags WHERE tag = ? AND seq = ?');
  }

  forget(): void {
    this.#running.clear();
  }

  get(id: string): Job | undefined {
    const running = this.#running.get(id);
    if (running !== undefined) return running;
    const row = firstRow<JobRow>(this.#byId, id);
    return row === undefined ? undefined : readJob(row);
  }

  history(id: string): readonly HistoryRow[] {
    const row = firstRow<readonly [string]>(this.#history, id);
    return row === undefined ? [] : unpackRows(row[0]);
  }

  insert(job: Job, row: HistoryRow): void {
    const { bits, values } = difference(UNBORN, job);
    let statement = this.#inserts.get(bits);
    if (statement === undefined) {
      statement = this.#db.prepare(insertSql(bits));
      this.#inserts.set(bits, statement);
    }
    statement.run(...values, readiness(job, row.at), packRow(row));
    for (const tag of job.tags) this.#tag.run(tag, job.seq);
    this.#remember(job);
  }

  update(before: Job, after: Job, row: HistoryRow | null): void {
    const { bits, values } = difference(before, after);
    let key = bits;
    if (row !== null) {
      if (before.state === 'waiting' || after.state === 'waiting') {
        key += READY_BIT;
        values.push(readiness(after, row.at));
      }
      key += HISTORY_BIT;
      values.push(`,${packRow(row)}`);
    }
    if (key !== 0) this.#run(this.#updateFor(key), after, values);
    if (before.tags !== after.tags) this.#retag(before, after);
    this.#remember(after);
  }

  append(job: Job, row: HistoryRow): void {
    this.#run(this.#appendHistory, job, [`,${packRow(row)}`]);
  }

  remove(job: Job): void {
    this.#delete.run(job.seq);
    for (const tag of job.tags) this.#untag.run(tag, job.seq);
    this.#running.delete(job.id);
  }

  /** An update with a history row changes nothing while the history is full: then it is cut and tried again. */
  #run(statement: Statement, { id, seq }: Job, values: readonly SqlValue[]): void {
    if (statement.run(...values, seq).changes > 0) return;
    const rows = this.history(id);
    const kept = [...rows.slice(0, 1), ...rows.slice(2 - MAX_HISTORY)];
    this.#cutHistory.run(packRows(kept), kept.length, seq);
    statement.run(...values, seq);
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

  #remember(job: Job): void {
    const isWorthwhile = job.lease !== null && job.data.length <= MAX_REMEMBERED_DATA;
    if (isWorthwhile && this.#running.size < MAX_REMEMBERED) this.#running.set(job.id, job);
    else this.#running.delete(job.id);
  }
}

/** Null: does not wait. 0: waits for its time. 1: waits for a worker. */
function readiness({ state, runAt }: Job, now: number): number | null {
  if (state !== 'waiting') return null;
  return runAt <= now ? 1 : 0;
}

function insertSql(bits: number): string {
  const columns = [...columnsOf(bits), 'ready', 'history'];
  return `INSERT INTO jobs (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

function updateSql(key: number): string {
  const sets = columnsOf(key).map((name) => `${name} = ?`);
  if (has(key, READY_BIT)) sets.push('ready = ?');
  if (!has(key, HISTORY_BIT)) return `UPDATE jobs SET ${sets.join(', ')} WHERE seq = ?`;
  sets.push('history = history || ?', 'history_rows = history_rows + 1');
  return `UPDATE jobs SET ${sets.join(', ')} WHERE seq = ? AND history_rows < ${MAX_HISTORY}`;
}

function has(key: number, bit: number): boolean {
  return Math.floor(key / bit) % 2 === 1;
}
