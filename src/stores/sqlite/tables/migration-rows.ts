/**
 * Reads and writes the rows of a store migration, as plain functions of the open transaction.
 *
 * Invariant: every table of the schema is named here, or belongs to processes and not to jobs.
 */

import { byText } from '../../../core/input/text-order.ts';
import type { Job } from '../../../core/job/job.ts';
import { keyAddress } from '../../../core/lifecycle/lifecycle.ts';
import type { MigrationRows } from '../../../core/operations/migrate.ts';
import type {
  IssuedNumbers,
  MigratedDay,
  MigratedEdge,
  MigrationPage,
  MigrationPart,
  MigrationRow,
  MigrationState,
  MigrationValues,
} from '../../../core/ports/migration.ts';
import {
  canonicalCells,
  keyOfDay,
  keyOfRecord,
  partsOfKey,
  UNMIGRATED_RECORDS,
} from '../../../core/ports/migration.ts';
import { aggregateText } from '../../../core/statistics/aggregate.ts';
import { SPAN_NAMES, sortedPages } from '../../../core/statistics/series.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';
import { refuse } from './damaged-jobs.ts';
import { unpackRows } from './history-text.ts';
import type { JobRow } from './job-row.ts';
import { JOB_COLUMNS, readJob } from './job-row.ts';
import type { RecordRow, SqliteRecords } from './sqlite-records.ts';
import { RECORD_COLUMNS, readRecord } from './sqlite-records.ts';
import type { SqliteTable } from './sqlite-table.ts';
import type { StoreNumbers } from './store-numbers.ts';

/** The tables that are emptied before a store is filled. Of `records` and `meta`, a part stays. */
export const MOVED_TABLES = [
  'jobs',
  'tags',
  'edges',
  'steps',
  'keys',
  'parked',
  'slots',
  'turns',
  'paces',
  'buckets',
  'wakes',
  'equals',
  'folds',
  'statistics',
  'statistics_log',
  'series',
  'queues',
] as const;

export interface SqliteMigrationRowsOptions {
  readonly numbers: StoreNumbers;
  readonly records: SqliteRecords;
  readonly table: SqliteTable;
}

const STAYING = UNMIGRATED_RECORDS.map((kind) => `'${kind}'`).join(', ');

type QueueDay = Pick<MigratedDay, 'queue' | 'day'>;

const dayOrder = (a: QueueDay, b: QueueDay): number => byText(a.queue, b.queue) || a.day - b.day;

export class SqliteMigrationRows implements MigrationRows {
  readonly #options: SqliteMigrationRowsOptions;
  readonly #db: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(db: Database, options: SqliteMigrationRowsOptions) {
    this.#db = db;
    this.#options = options;
  }

  standing(): MigrationState | null {
    return this.#options.records.standing();
  }

  setStanding(standing: MigrationState | null, now: number): void {
    this.#options.records.setStanding(standing, now);
  }

  numbers(): IssuedNumbers {
    return this.#options.numbers.given;
  }

  raise(numbers: IssuedNumbers): void {
    this.#options.numbers.raise(numbers);
  }

  page(part: MigrationPart, after: string | null, limit: number): MigrationPage {
    const rows = this.#rows(part, after, limit);
    return { rows, next: rows.length < limit ? null : (rows.at(-1)?.key ?? null) };
  }

  put(part: MigrationPart, { value }: MigrationRow, now: number): void {
    const { records, table } = this.#options;
    // Cells and pages are overwritten, so entries that are pending are added first.
    if (part === 'queues' || part === 'statistics') table.aggregateStatistics();
    if (part === 'records') records.restore(value as MigrationValues['records']);
    if (part === 'jobs') table.restore(value as MigrationValues['jobs'], now);
    if (part === 'queues') this.#putQueue(value as MigrationValues['queues']);
    if (part === 'statistics') this.#putDay(value as MigratedDay);
  }

  removeRecord(key: string): void {
    this.#options.records.drop(...partsOfKey(key));
  }

  clear(): void {
    for (const table of MOVED_TABLES) this.#db.exec(`DELETE FROM ${table}`);
    this.#db.exec(`DELETE FROM records WHERE kind NOT IN (${STAYING})`);
    this.#options.table.forget();
    this.#options.records.forget();
  }

  /** Prepared on first use: most engines never migrate. */
  #sql(text: string): Statement {
    const statement = this.#statements.get(text) ?? this.#db.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }

  #rows(part: MigrationPart, after: string | null, limit: number): readonly MigrationRow[] {
    if (part === 'jobs') return this.#jobs(Number(after ?? -1), limit);
    if (part === 'queues') return this.#queues(after ?? '', limit);
    const from = after === null ? (['', ''] as const) : partsOfKey(after);
    return part === 'records' ? this.#records(from, limit) : this.#days(from, limit);
  }

  #records(from: readonly [string, string], limit: number): readonly MigrationRow[] {
    const rows = allRows<RecordRow>(
      this.#sql(`SELECT ${RECORD_COLUMNS} FROM records WHERE (kind, key) > (?, ?) AND kind NOT IN (${STAYING})
        ORDER BY kind, key LIMIT +?`),
      ...from,
      limit,
    );
    return rows.map(readRecord).map((value) => ({ key: keyOfRecord(value), value }));
  }

  #queues(after: string, limit: number): readonly MigrationRow[] {
    const names = allRows<readonly [string]>(
      this.#sql('SELECT name FROM queues WHERE name > ? ORDER BY name LIMIT +?'),
      after,
      limit,
    );
    const { table } = this.#options;
    return names.map(([name]) => {
      const turns = allRows<readonly [string, number]>(this.#sql('SELECT key, turn FROM turns WHERE queue = ?'), name);
      const sorted = [...turns].sort(([a], [b]) => byText(a, b));
      const series = sortedPages(SPAN_NAMES.flatMap((span) => table.series(name, span, 0)));
      const value = { name, turn: table.turnServed(name), rateAt: table.rateAt(name), turns: sorted, series };
      return { key: name, value };
    });
  }

  #putQueue({ name, turn, rateAt, turns, series }: MigrationValues['queues']): void {
    const { table } = this.#options;
    table.addQueue(name);
    if (turn > 0) table.serveTurn(name, turn);
    if (rateAt > 0) table.setRateAt(name, rateAt);
    for (const [key, given] of turns) table.giveTurn(name, key, given);
    for (const page of series) table.putPage(name, page);
  }

  #days([queue, day]: readonly [string, string], limit: number): readonly MigrationRow[] {
    const after = { queue, day: day === '' ? -1 : Number(day) };
    const stored = allRows<readonly [string, number]>(
      this.#sql('SELECT DISTINCT queue, day FROM statistics WHERE (queue, day) > (?, ?) ORDER BY queue, day LIMIT +?'),
      after.queue,
      after.day,
      limit,
    ).map(([of, on]) => ({ queue: of, day: on }));
    const pending = this.#options.table.pendingDays().filter((each) => dayOrder(each, after) > 0);
    const days = new Map([...stored, ...pending].map((each) => [keyOfDay(each), each]));
    return [...days]
      .sort(([, a], [, b]) => dayOrder(a, b))
      .slice(0, limit)
      .map(([key, each]) => ({ key, value: this.#day(each) }));
  }

  #day({ queue, day }: QueueDay): MigratedDay {
    const cells = this.#options.table.statistics(queue, day, day);
    const rows = cells.map(({ kind, name, figures }) => ({ kind, name, figures: aggregateText(figures) }));
    return { queue, day, cells: canonicalCells(rows) };
  }

  #putDay({ queue, day, cells }: MigratedDay): void {
    const write = this.#sql(
      'INSERT OR REPLACE INTO statistics (queue, day, kind, name, figures) VALUES (?, ?, ?, ?, ?)',
    );
    for (const { kind, name, figures } of cells) execute(write, queue, day, kind, name, figures);
  }

  #jobs(after: number, limit: number): readonly MigrationRow[] {
    const rows = allRows<readonly [string, ...JobRow]>(
      this.#sql(`SELECT jobs.history, ${JOB_COLUMNS} FROM jobs WHERE seq > ? ORDER BY seq LIMIT +?`),
      after,
      limit,
    );
    return rows.map(([history, ...row]) => {
      const job = readJob(row);
      refuse(job);
      const value = {
        job,
        history: unpackRows(history, job.createdAt),
        steps: job.steps === null ? [] : this.#options.table.steps(job),
        parents: this.#parents(job),
        holds: this.#holds(job),
      };
      return { key: String(job.seq), value };
    });
  }

  #parents({ seq, parents }: Job): readonly MigratedEdge[] {
    if (parents === null) return [];
    const edges = this.#sql('SELECT parent, open FROM edges WHERE child = ? ORDER BY parent');
    return allRows<readonly [number, number]>(edges, seq).map(([parent, open]) => ({
      seq: parent,
      isOpen: open === 1,
    }));
  }

  #holds({ id, unique, queue }: Job): { readonly until: number | null } | null {
    if (unique === null) return null;
    const held = this.#sql('SELECT until FROM keys WHERE address = ? AND job = ?');
    const row = firstRow<readonly [number | null]>(held, keyAddress(unique, queue), id);
    return row === undefined ? null : { until: row[0] };
  }
}
