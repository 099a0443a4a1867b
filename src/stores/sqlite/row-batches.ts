/**
 * Writes of job rows that wait in memory until they are many: one statement for several costs less than one for each.
 *
 * Invariant: no statement sees the rows without them. JobRows writes what is pending before it runs another statement,
 * the other parts of the table by `flushingFirst`, and the session before every call but an add, and before a commit.
 */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import type { PlainJob } from '../../core/lifecycle/lifecycle.ts';
import type { Database, Statement } from './engine/sqlite-database.ts';
import { execute, firstRow } from './engine/sqlite-database.ts';
import { packRow, rowParts } from './tables/history-text.ts';
import type { SqlValue } from './tables/job-columns.ts';
import { assignmentsOf, LEASE, NO_LEASE } from './tables/job-columns.ts';
import { sumOf } from './tables/job-row.ts';

/** Rows of a statement, the most first. The first divides the jobs of a bulk add and the calls of a message. */
const INSERTED_TOGETHER = [50, 10, 1] as const;
const [MOST_INSERTED] = INSERTED_TOGETHER;
/** Id, data and checksum. */
const OWN_VALUES = 3;
const MAX_UPDATES = 1_000;
/** Fewer are updated one by one. */
const MIN_UPDATES = 3;

const PLAIN_COLUMNS = 'seq, queue, priority, run_at, created_at, state, ready, id, data, data_sum';

/** New plain jobs: of one queue, priority and time, with consecutive numbers. */
export class PendingInserts {
  /** As INSERTED_TOGETHER. */
  readonly #inserts: readonly Statement[];
  /** The first job, and a job that has the queue, priority and time of all. */
  #first = 0;
  #shared: Job | null = null;
  /** Id, data and checksum of each job. */
  #values: SqlValue[] = [];

  constructor(db: Database) {
    // With ABORT, the default, SQLite would copy every page before its first change, to undo the rows before a failed one.
    // The caller undoes them: each failure ends with a rollback, of the transaction or to the savepoint of the call.
    const insert = (rows: readonly string[]) =>
      db.prepare(`INSERT OR FAIL INTO jobs (${PLAIN_COLUMNS}) VALUES ${rows.join(', ')}`);
    this.#inserts = INSERTED_TOGETHER.map((length) => insert(Array.from({ length }, (_, place) => rowSql(place))));
  }

  /** `shared`: a job that has the queue, priority and time of this one. */
  add(shared: Job, { id, data }: PlainJob, seq: number): void {
    if (this.#shared !== null && !this.#isNext(shared, seq)) this.flush();
    if (this.#shared === null) this.#first = seq;
    this.#shared = shared;
    this.#values.push(id, data, sumOf(data));
    if (this.#values.length === MOST_INSERTED * OWN_VALUES) this.flush();
  }

  flush(): void {
    if (this.#shared === null) return;
    const { queue, priority, createdAt } = this.#shared;
    const values = this.#values;
    const first = this.#first;
    this.forget();
    let at = 0;
    for (let place = 0; place < INSERTED_TOGETHER.length; place += 1) {
      const rows = INSERTED_TOGETHER[place] as number;
      const insert = this.#inserts[place] as Statement;
      for (const length = rows * OWN_VALUES; at + length <= values.length; at += length) {
        const own = length === values.length ? values : values.slice(at, at + length);
        execute(insert, first + at / OWN_VALUES, queue, priority, createdAt, ...own);
      }
    }
  }

  forget(): void {
    this.#shared = null;
    this.#values = [];
  }

  #isNext({ queue, priority, createdAt }: Job, seq: number): boolean {
    const shared = this.#shared;
    const isAlike = shared?.queue === queue && shared.priority === priority && shared.createdAt === createdAt;
    return isAlike && seq === this.#first + this.#values.length / OWN_VALUES;
  }
}

/**
 * One row of the statement. Only what all rows share is a numbered parameter, and comes first: the binding looks for the
 * name of each parameter in the list of those that have one.
 */
function rowSql(place: number): string {
  return `(?1 + ${place}, ?2, ?3, ?4, ?4, 'waiting', 1, ?, ?, ?)`;
}

/** An update with a history row: the columns and their values as in `difference`. */
export interface RowUpdate {
  readonly key: number;
  readonly values: readonly SqlValue[];
  readonly before: Job;
  readonly after: Job;
  readonly row: HistoryRow;
}

interface UpdateStatement {
  /** For rows whose numbers follow one another, as those of jobs that were added together. */
  readonly range: Statement;
  /** For any rows. */
  readonly list: Statement;
  /** The place of the token among the values; -1 if the token is not written. */
  readonly tokenAt: number;
}

/** Claims and settlements that differ only in the job and its token. */
export class PendingUpdates {
  readonly #db: Database;
  readonly #writeOne: (update: RowUpdate) => void;
  readonly #changes: Statement;
  readonly #history: Statement;
  readonly #statements = new Map<number, UpdateStatement>();
  readonly #seqs = new Set<number>();
  #updates: RowUpdate[] = [];
  /** What the last job became, or the job that it became like. */
  #like: Job | null = null;

  constructor(db: Database, writeOne: (update: RowUpdate) => void) {
    this.#db = db;
    this.#writeOne = writeOne;
    this.#changes = db.prepare('SELECT changes()');
    this.#history = db.prepare('SELECT history FROM jobs WHERE seq = ?');
  }

  add(update: RowUpdate): void {
    const { seq } = update.after;
    const first = this.#updates[0];
    if (first !== undefined && (this.#seqs.has(seq) || !this.#isAlike(first, update))) this.flush();
    if (!canMakeRow(update)) return this.#writeOne(update);
    this.#updates.push(update);
    this.#seqs.add(seq);
    this.#like = update.after;
    if (this.#updates.length === MAX_UPDATES) this.flush();
  }

  /**
   * Adds a job that became like another (core/operations/alike.ts). Returns false if the caller has to add it. Its number
   * need not be remembered: the change is of the state, so another one, which has another key, comes before it happens again.
   */
  addLike(like: Job, after: Job, row: HistoryRow): boolean {
    const first = this.#updates[0];
    if (first === undefined || this.#like !== like || this.#updates.length === MAX_UPDATES - 1) return false;
    if (first.key & LEASE && row.token !== (first.row.token ?? 0) + this.#updates.length) return false;
    this.#updates.push({ key: first.key, values: first.values, before: first.before, after, row });
    return true;
  }

  /** Called after `add` of a job that became like another. */
  nextLike(like: Job): void {
    this.#like = like;
  }

  flush(): void {
    const first = this.#updates[0];
    if (first === undefined) return;
    const updates = this.#updates;
    this.forget();
    const areFew = updates.length < MIN_UPDATES;
    if (!areFew && this.#writeAll(first, updates)) return;
    for (const update of updates) if (areFew || !this.#isWritten(update)) this.#writeOne(this.#withOwnToken(update));
  }

  /** `addLike` gives a row the values of the first. */
  #withOwnToken(update: RowUpdate): RowUpdate {
    const { tokenAt } = this.#statementFor(update.key);
    return tokenAt === -1 ? update : { ...update, values: update.values.with(tokenAt, update.row.token) };
  }

  forget(): void {
    if (this.#updates.length === 0) return;
    this.#updates = [];
    this.#seqs.clear();
  }

  /** Writes the rows whose history is not full. Returns whether these were all. */
  #writeAll(first: RowUpdate, updates: readonly RowUpdate[]): boolean {
    const { range, list } = this.#statementFor(first.key);
    const { seq } = first.after;
    if (areConsecutive(updates)) execute(range, ...this.#valuesFrom(first, seq), seq, seq + updates.length - 1);
    else execute(list, ...this.#valuesFrom(first, 0), `[${updates.map(({ after }) => after.seq).join(',')}]`);
    return firstRow<readonly [number]>(this.#changes)?.[0] === updates.length;
  }

  /** Whether the row of an update was written: a history ends with its last row, and the token is in it. */
  #isWritten({ after, row }: RowUpdate): boolean {
    const [history = ''] = firstRow<readonly [string]>(this.#history, after.seq) ?? [];
    return history.endsWith(packRow(row, after.createdAt));
  }

  /** `from`: what the statement adds to the first token, for the first row. */
  #valuesFrom({ key, values, row }: RowUpdate, from: number): readonly SqlValue[] {
    const [middle, end] = rowParts(row);
    if (!(key & LEASE)) return [...values, row.at, middle, end];
    const token = (row.token ?? 0) - from;
    return [...values.with(this.#statementFor(key).tokenAt, token), row.at, middle, token, end];
  }

  #isAlike(first: RowUpdate, { key, values, row }: RowUpdate): boolean {
    const is = first.row;
    if (key !== first.key || row.at !== is.at || row.event !== is.event || row.attempt !== is.attempt) return false;
    if (row.state !== is.state || row.by !== is.by || row.note !== is.note) return false;
    if (key & LEASE && row.token !== (is.token ?? 0) + this.#updates.length) return false;
    const { tokenAt } = this.#statementFor(key);
    for (let at = 0; at < values.length; at++) if (at !== tokenAt && values[at] !== first.values[at]) return false;
    return true;
  }

  #statementFor(key: number): UpdateStatement {
    let known = this.#statements.get(key);
    if (known === undefined) {
      const sets = assignmentsOf(key);
      const tokenPlace = sets.indexOf('token = ?');
      known = {
        range: this.#db.prepare(`${updateAllSql(sets, 'seq')} WHERE seq BETWEEN ? AND ?`),
        list: this.#db.prepare(`${updateAllSql(sets, 'batch.key')} FROM json_each(?) AS batch WHERE seq = batch.value`),
        tokenAt: boundBefore(sets, tokenPlace),
      };
      this.#statements.set(key, known);
    }
    return known;
  }
}

/**
 * Returns whether the statement can make the history row: its time is a whole number, and its token is that of the new
 * lease or of the lease that ends.
 */
function canMakeRow({ key, before, after, row }: RowUpdate): boolean {
  if (row.token === null || !Number.isInteger(row.at)) return false;
  if (key & LEASE) return after.lease?.token === row.token;
  return (key & NO_LEASE) !== 0 && before.lease?.token === row.token;
}

function boundBefore(sets: readonly string[], place: number): number {
  if (place === -1) return -1;
  return sets.slice(0, place).join().replaceAll(/[^?]/g, '').length;
}

/** Whether each row has the number after that of the row before it: a range is not collected before it is written. */
function areConsecutive(updates: readonly RowUpdate[]): boolean {
  const from = updates[0]?.after.seq ?? 0;
  return updates.every(({ after }, place) => after.seq === from + place);
}

/**
 * A row whose history is full is left as it is: the CHECK constraint forbids another history row. With ABORT, the default,
 * SQLite would copy every page before its first change, to undo the rows before such a row.
 *
 * `place` is added to the token. Numbers are cast because the binding may hand them over as floating-point numbers,
 * which have another text.
 */
function updateAllSql(sets: readonly string[], place: string): string {
  const own = `CAST(? AS INTEGER) + ${place}`;
  const token = sets.includes('token = ?') ? `(${own})` : 'token';
  const all = sets.map((set) => (set === 'token = ?' ? `token = ${own}` : set));
  const row = `history || ',[' || (CAST(? AS INTEGER) - created_at) || ? || ${token} || ?`;
  return `UPDATE OR IGNORE jobs SET ${[...all, `history = ${row}`, 'history_rows = history_rows + 1'].join(', ')}`;
}

/** Returns a database whose statements run `flush` first. It can only prepare: the parts of a table need no more. */
export function flushingFirst(db: Database, flush: () => void): Database {
  const prepare = (sql: string): Statement => {
    const statement = db.prepare(sql);
    const flushing = (run: (...values: unknown[]) => unknown) => {
      return (...values: unknown[]) => {
        flush();
        return run(...values);
      };
    };
    const [get, all, run] = [statement.get, statement.all, statement.run].map((each) => flushing(each.bind(statement)));
    return { get, all, run } as unknown as Statement;
  };
  return { prepare } as unknown as Database;
}
