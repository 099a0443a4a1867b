/** Migration rows of the memory store: plain before fast, every page scans everything. */

import type { MigrationRows } from '../../core/operations/migrate.ts';
import type {
  IssuedNumbers,
  MigratedDay,
  MigrationPage,
  MigrationPart,
  MigrationRow,
  MigrationState,
  MigrationValues,
} from '../../core/ports/migration.ts';
import {
  canonicalCells,
  keyOfDay,
  keyOfRecord,
  keyOrder,
  MIGRATION_STATE_RECORD,
  partsOfKey,
  UNMIGRATED_RECORDS,
} from '../../core/ports/migration.ts';
import { aggregateText, readAggregate } from '../../core/statistics/aggregate.ts';
import { SPAN_NAMES, sortedPages } from '../../core/statistics/series.ts';
import { dayOf } from '../../core/statistics/statistics.ts';
import type { MemoryRecords } from './memory-records.ts';
import type { MemoryTable } from './memory-table.ts';

const { kind: KIND, key: KEY } = MIGRATION_STATE_RECORD;

export class MemoryMigrationRows implements MigrationRows {
  readonly #table: MemoryTable;
  readonly #records: MemoryRecords;

  constructor(table: MemoryTable, records: MemoryRecords) {
    this.#table = table;
    this.#records = records;
  }

  standing(): MigrationState | null {
    const record = this.#records.peek(KIND, KEY);
    return record === undefined ? null : (JSON.parse(record.value) as MigrationState);
  }

  setStanding(standing: MigrationState | null, now: number): void {
    const record = { kind: KIND, key: KEY, version: 0, expiresAt: null, updatedAt: now };
    if (standing === null) this.#records.drop(record);
    else this.#records.restore({ ...record, value: JSON.stringify(standing) });
  }

  numbers(): IssuedNumbers {
    return { ...this.#table.numbers, version: this.#records.version };
  }

  raise(numbers: IssuedNumbers): void {
    this.#table.raise(numbers);
    this.#records.raise(numbers.version);
  }

  page(part: MigrationPart, after: string | null, limit: number): MigrationPage {
    const all = this.#rows(part).toSorted((a, b) => keyOrder(part, a.key, b.key));
    const rest = all.filter(({ key }) => after === null || keyOrder(part, key, after) > 0);
    const rows = rest.slice(0, limit);
    return { rows, next: rows.length < rest.length ? (rows.at(-1)?.key ?? null) : null };
  }

  put(part: MigrationPart, { value }: MigrationRow): void {
    if (part === 'records') this.#records.restore(value as MigrationValues['records']);
    if (part === 'jobs') this.#table.restore(value as MigrationValues['jobs']);
    if (part === 'queues') this.#putQueue(value as MigrationValues['queues']);
    if (part === 'statistics') this.#putDay(value as MigratedDay);
  }

  removeRecord(key: string): void {
    const [kind, name] = partsOfKey(key);
    this.#records.drop({ kind, key: name });
  }

  clear(): void {
    this.#table.clear();
    for (const record of this.#records.all()) if (!UNMIGRATED_RECORDS.includes(record.kind)) this.#records.drop(record);
  }

  #rows(part: MigrationPart): readonly MigrationRow[] {
    if (part === 'jobs') return this.#table.migratedJobs().map((value) => ({ key: String(value.job.seq), value }));
    if (part === 'queues') return this.#table.queues().map((name) => ({ key: name, value: this.#queue(name) }));
    if (part === 'statistics') return this.#table.queues().flatMap((queue) => this.#days(queue));
    const moved = this.#records.all().filter(({ kind }) => !UNMIGRATED_RECORDS.includes(kind));
    return moved.map((value) => ({ key: keyOfRecord(value), value }));
  }

  #queue(name: string): MigrationValues['queues'] {
    const turns = [...this.#table.turnsOf(name)].sort(([a], [b]) => keyOrder('queues', a, b));
    const series = sortedPages(SPAN_NAMES.flatMap((span) => this.#table.series(name, span, 0)));
    return { name, turn: this.#table.turnServed(name), rateAt: this.#table.rateAt(name), turns, series };
  }

  #putQueue({ name, turn, rateAt, turns, series }: MigrationValues['queues']): void {
    this.#table.addQueue(name);
    if (turn > 0) this.#table.serveTurn(name, turn);
    if (rateAt > 0) this.#table.setRateAt(name, rateAt);
    for (const [key, given] of turns) this.#table.giveTurn(name, key, given);
    for (const page of series) this.#table.putPage(name, page);
  }

  #days(queue: string): readonly MigrationRow[] {
    const cells = this.#table.statistics(queue, 0, dayOf(Number.MAX_SAFE_INTEGER));
    return [...new Set(cells.map(({ day }) => day))].map((day) => {
      const ofDay = cells.filter((cell) => cell.day === day);
      const texts = ofDay.map(({ kind, name, figures }) => ({ kind, name, figures: aggregateText(figures) }));
      return { key: keyOfDay({ queue, day }), value: { queue, day, cells: canonicalCells(texts) } };
    });
  }

  #putDay({ queue, day, cells }: MigratedDay): void {
    for (const { kind, name, figures } of cells)
      this.#table.putCell(queue, { day, kind, name, figures: readAggregate(figures) });
  }
}
