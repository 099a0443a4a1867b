/**
 * The rows of an outbox table, as the relay reads and changes them. Every call is one statement, so it needs no
 * transaction that stays open while the store is called.
 *
 *     waiting ──▶ sent ──▶ (deleted)        waiting, sent ──▶ failed ──▶ waiting (retry)
 *
 * A relay holds rows for the time of a lease (`holder`, `held_until`). Rows of a killed relay are free when it is over.
 *
 * Invariant: a relay changes only rows that it still holds.
 * Invariant: a relay takes a row with an order key only together with, or after, all earlier rows of that key.
 */
import type { OutboxAdapter, SqlRow, SqlValue } from './outbox-adapter.ts';
import { nowSql } from './outbox-schema.ts';

/** A row that a relay holds. */
export interface OutboxRow {
  readonly seq: number;
  readonly id: string;
  readonly queue: string;
  readonly data: string;
  readonly options: string;
  readonly orderKey: string | null;
  readonly state: 'waiting' | 'sent';
  /** How often it was refused. */
  readonly tries: number;
  /** For a row that is `sent`: how long ago that was, by the clock of the database. */
  readonly sentForMs: number;
}

/** A row that cannot be relayed. */
export interface FailedRow {
  /** The id of its job. */
  readonly id: string;
  /** Its queue. */
  readonly queue: string;
  /** Why it cannot be relayed. */
  readonly error: string;
}

/** How many rows an outbox has. */
export interface OutboxStatus {
  /** Rows that are not relayed yet. */
  readonly waiting: number;
  /** Rows that cannot be relayed until they are corrected. */
  readonly failed: number;
  /** The age of the oldest row that waits; 0 if none does. */
  readonly lagMs: number;
  /** Why the oldest refused row waits; null if no row was refused. */
  readonly problem: string | null;
}

const COLUMNS = ['seq', 'id', 'queue', 'data', 'options', 'order_key', 'state', 'tries'];

/**
 * PostgreSQL: the commit of this statement does not wait for the disk. A server that crashes may forget that rows were
 * taken or deleted: the next relay repeats the step, which changes nothing. The mark `sent` always waits.
 */
const UNSYNCED = `(SELECT set_config('synchronous_commit', 'off', true)) AS unsynced`;

type Database = Pick<OutboxAdapter<never, void | Promise<void>>, 'dialect' | 'table' | 'query'>;

/** The rows of one outbox table. */
export class OutboxTable {
  readonly #database: Database;
  readonly #now: string;

  constructor(database: Database) {
    this.#database = database;
    this.#now = nowSql(database.dialect);
  }

  /** Returns whether a row can be taken. For SQLite, where an UPDATE without effect would still lock the database. */
  async hasRows(): Promise<boolean> {
    return (await this.#run(`${this.#free('seq')} LIMIT 1`)).length > 0;
  }

  /** Takes the oldest free rows, in their order. */
  async take({ holder, leaseMs, limit }: { holder: string; leaseMs: number; limit: number }): Promise<OutboxRow[]> {
    const { dialect, table } = this.#database;
    const isPostgres = dialect === 'postgres';
    const set = `SET holder = $1, held_until = ${this.#now} + ${leaseMs}`;
    const of = isPostgres ? 't.' : '';
    const columns = [...COLUMNS.map((each) => `${of}${each}`), `${this.#now} - coalesce(${of}sent_at, 0) AS sent_for`];
    // SKIP LOCKED passes a row that another relay is taking; `before` then shows the gap in the rows of its key.
    const before = `(SELECT max(e.seq) FROM ${table} e WHERE e.order_key = t.order_key AND e.seq < t.seq AND e.state <> 'failed') AS before`;
    const free = `${this.#free('r.seq')} ORDER BY r.seq LIMIT ${limit}`;
    const rows = isPostgres
      ? await this.#run(
          `WITH picked AS MATERIALIZED (${free} FOR UPDATE SKIP LOCKED) UPDATE ${table} AS t ${set} FROM picked, ${UNSYNCED} WHERE t.seq = picked.seq RETURNING ${[...columns, before].join(', ')}`,
          [holder],
        )
      : await this.#run(`UPDATE ${table} ${set} WHERE seq IN (${free}) RETURNING ${columns.join(', ')}`, [holder]);
    const sorted = rows.toSorted((a, b) => Number(a['seq']) - Number(b['seq']));
    if (!isPostgres) return sorted.map(toRow);
    const { kept, early } = withoutGaps(sorted);
    await this.release(holder, early);
    return kept.map(toRow);
  }

  /** Marks rows as sent: their drafts are in the store. Returns those that this relay still held. */
  async markSent(holder: string, rows: readonly OutboxRow[]): Promise<readonly OutboxRow[]> {
    if (rows.length === 0) return [];
    const set = `state = 'sent', sent_at = ${this.#now}, error = NULL`;
    const marked = await this.#change(set, [], `holder = $1 AND state = 'waiting'`, { holder, rows });
    return rows.filter(({ seq }) => marked.has(seq));
  }

  /** Marks sent rows as waiting again, as far as this relay still holds them. */
  async markWaiting(holder: string, rows: readonly OutboxRow[]): Promise<void> {
    const set = `state = 'waiting', sent_at = NULL, holder = NULL, held_until = 0`;
    await this.#change(set, [], `holder = $1 AND state = 'sent'`, { holder, rows });
  }

  /** Deletes rows whose jobs are in the store. */
  async remove(holder: string, rows: readonly OutboxRow[]): Promise<void> {
    if (rows.length === 0) return;
    const using = this.#database.dialect === 'postgres' ? ` USING ${UNSYNCED}` : '';
    const sql = `DELETE FROM ${this.#database.table}${using} WHERE holder = $1 AND ${this.#among('$2')} RETURNING seq`;
    await this.#run(sql, [holder, seqsOf(rows)]);
  }

  /** Gives rows back at once. */
  async release(holder: string, rows: readonly { readonly seq: number }[]): Promise<void> {
    await this.#change('holder = NULL, held_until = 0', [], 'holder = $1', { holder, rows });
  }

  /** Gives refused rows back, to be taken again after a delay. */
  async delay(holder: string, rows: readonly OutboxRow[], { error, ms }: { error: string; ms: number }): Promise<void> {
    const set = `tries = tries + 1, holder = NULL, held_until = ${this.#now} + ${ms}, error = $1`;
    await this.#change(set, [error], 'holder = $2', { holder, rows });
  }

  /** Marks rows that cannot be relayed. */
  async fail(holder: string, rows: readonly OutboxRow[], error: string): Promise<void> {
    const set = `state = 'failed', holder = NULL, held_until = 0, error = $1`;
    await this.#change(set, [error], 'holder = $2', { holder, rows });
  }

  async status(): Promise<OutboxStatus> {
    const { table } = this.#database;
    const live = `FROM ${table} WHERE state <> 'failed'`;
    const [row = {}] = await this.#run(
      `SELECT (SELECT count(*) ${live}) AS waiting, (SELECT count(*) FROM ${table} WHERE state = 'failed') AS failed, (SELECT ${this.#now} - min(created_at) ${live}) AS lag, (SELECT error ${live} AND error IS NOT NULL ORDER BY seq LIMIT 1) AS problem`,
    );
    return {
      waiting: Number(row['waiting'] ?? 0),
      failed: Number(row['failed'] ?? 0),
      lagMs: Math.max(0, Number(row['lag'] ?? 0)),
      problem: typeof row['problem'] === 'string' ? row['problem'] : null,
    };
  }

  async failed(limit: number): Promise<readonly FailedRow[]> {
    const rows = await this.#run(
      `SELECT id, queue, error FROM ${this.#database.table} WHERE state = 'failed' ORDER BY seq LIMIT ${limit}`,
    );
    return rows.map((row) => ({ id: String(row['id']), queue: String(row['queue']), error: String(row['error']) }));
  }

  /** Makes failed rows wait again: one, or all. Returns how many. */
  async retry(id: string | null): Promise<number> {
    const set = `state = 'waiting', sent_at = NULL, error = NULL, tries = 0`;
    const which = id === null ? '' : ' AND id = $1';
    const sql = `UPDATE ${this.#database.table} SET ${set} WHERE state = 'failed'${which} RETURNING seq`;
    return (await this.#run(sql, id === null ? [] : [id])).length;
  }

  /** Rows that no relay holds, and whose order key has no earlier row that is held or delayed. */
  #free(columns: string): string {
    const { table } = this.#database;
    const earlier = `SELECT 1 FROM ${table} e WHERE e.order_key = r.order_key AND e.seq < r.seq AND e.state <> 'failed' AND e.held_until > ${this.#now}`;
    return `SELECT ${columns} FROM ${table} AS r WHERE r.state <> 'failed' AND r.held_until <= ${this.#now} AND (r.order_key IS NULL OR NOT EXISTS (${earlier}))`;
  }

  #among(placeholder: string): string {
    return this.#database.dialect === 'postgres'
      ? `seq IN (SELECT value::bigint FROM json_array_elements_text(${placeholder}::json))`
      : `seq IN (SELECT value FROM json_each(${placeholder}))`;
  }

  async #change(
    set: string,
    values: readonly SqlValue[],
    where: string,
    { holder, rows }: { readonly holder: string; readonly rows: readonly { readonly seq: number }[] },
  ): Promise<ReadonlySet<number>> {
    if (rows.length === 0) return new Set();
    const parameters = [...values, holder, seqsOf(rows)];
    const among = this.#among(`$${parameters.length}`);
    const sql = `UPDATE ${this.#database.table} SET ${set} WHERE ${where} AND ${among} RETURNING seq`;
    return new Set((await this.#run(sql, parameters)).map((row) => Number(row['seq'])));
  }

  #run(sql: string, parameters: readonly SqlValue[] = []): Promise<readonly SqlRow[]> {
    return this.#database.query({ sql, parameters });
  }
}

const seqsOf = (rows: readonly { readonly seq: number }[]): string => JSON.stringify(rows.map(({ seq }) => seq));

/** Separates the rows of which an earlier row of the same key was not taken. */
function withoutGaps(rows: readonly SqlRow[]): { kept: readonly SqlRow[]; early: readonly { seq: number }[] } {
  const taken = new Set<number>();
  const early: { seq: number }[] = [];
  const kept = rows.filter(({ seq, before }) => {
    const isNext = before === null || taken.has(Number(before));
    if (isNext) taken.add(Number(seq));
    else early.push({ seq: Number(seq) });
    return isNext;
  });
  return { kept, early };
}

function toRow(row: SqlRow): OutboxRow {
  const text = (name: string): string => String(row[name]);
  return {
    seq: Number(row['seq']),
    id: text('id'),
    queue: text('queue'),
    data: text('data'),
    options: text('options'),
    orderKey: row['order_key'] === null ? null : text('order_key'),
    state: row['state'] === 'sent' ? 'sent' : 'waiting',
    tries: Number(row['tries']),
    sentForMs: Number(row['sent_for']),
  };
}
