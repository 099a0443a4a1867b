/** Migration rows of the memory store: plain before fast, every page scans everything. */

import type { MigrationRows } from '../../core/operations/migrate.ts';
import type {
  GivenNumbers,
  MovedDay,
  MovedPage,
  MovedPart,
  MovedRow,
  MovedValues,
  Standing,
} from '../../core/ports/migration.ts';
import {
  canonicalCells,
  keyOfDay,
  keyOfRecord,
  keyOrder,
  partsOfKey,
  STANDING_RECORD,
  STAYING_RECORDS,
} from '../../core/ports/migration.ts';
import { figuresText, readFigures } from '../../core/statistics/aggregate.ts';
import { inPageOrder, SPAN_NAMES } from '../../core/statistics/series.ts';
import { dayOf } from '../../core/statistics/statistics.ts';
import type { MemoryRecords } from './memory-records.ts';
import type { MemoryTable } from './memory-table.ts';

const { kind: KIND, key: KEY } = STANDING_RECORD;

export class MemoryMigrationRows implements MigrationRows {
  readonly #table: MemoryTable;
  readonly #records: MemoryRecords;

  constructor(table: MemoryTable, records: MemoryRecords) {
    this.#table = table;
    this.#records = records;
  }

  standing(): Standing | null {
    const record = this.#records.peek(KIND, KEY);
    return record === undefined ? null : (JSON.parse(record.value) as Standing);
  }

  setStanding(standing: Standing | null, now: number): void {
    const record = { kind: KIND, key: KEY, version: 0, expiresAt: null, updatedAt: now };
    if (standing === null) this.#records.drop(record);
    else this.#records.restore({ ...record, value: JSON.stringify(standing) });
  }

  numbers(): GivenNumbers {
    return { ...this.#table.numbers, version: this.#records.version };
  }

  raise(numbers: GivenNumbers): void {
    this.#table.raise(numbers);
    this.#records.raise(numbers.version);
  }

  page(part: MovedPart, after: string | null, limit: number): MovedPage {
    const all = this.#rows(part).toSorted((a, b) => keyOrder(part, a.key, b.key));
    const rest = all.filter(({ key }) => after === null || keyOrder(part, key, after) > 0);
    const rows = rest.slice(0, limit);
    return { rows, next: rows.length < rest.length ? (rows.at(-1)?.key ?? null) : null };
  }

  put(part: MovedPart, { value }: MovedRow): void {
    if (part === 'records') this.#records.restore(value as MovedValues['records']);
    if (part === 'jobs') this.#table.restore(value as MovedValues['jobs']);
    if (part === 'queues') this.#putQueue(value as MovedValues['queues']);
    if (part === 'statistics') this.#putDay(value as MovedDay);
  }

  removeRecord(key: string): void {
    const [kind, name] = partsOfKey(key);
    this.#records.drop({ kind, key: name });
  }

  clear(): void {
    this.#table.clear();
    for (const record of this.#records.all()) if (!STAYING_RECORDS.includes(record.kind)) this.#records.drop(record);
  }

  #rows(part: MovedPart): readonly MovedRow[] {
    if (part === 'jobs') return this.#table.migratedJobs().map((value) => ({ key: String(value.job.seq), value }));
    if (part === 'queues') return this.#table.queues().map((name) => ({ key: name, value: this.#queue(name) }));
    if (part === 'statistics') return this.#table.queues().flatMap((queue) => this.#days(queue));
    const moved = this.#records.all().filter(({ kind }) => !STAYING_RECORDS.includes(kind));
    return moved.map((value) => ({ key: keyOfRecord(value), value }));
  }

  #queue(name: string): MovedValues['queues'] {
    const turns = [...this.#table.turnsOf(name)].sort(([a], [b]) => keyOrder('queues', a, b));
    const series = inPageOrder(SPAN_NAMES.flatMap((span) => this.#table.series(name, span, 0)));
    return { name, turn: this.#table.turnServed(name), rateAt: this.#table.rateAt(name), turns, series };
  }

  #putQueue({ name, turn, rateAt, turns, series }: MovedValues['queues']): void {
    this.#table.addQueue(name);
    if (turn > 0) this.#table.serveTurn(name, turn);
    if (rateAt > 0) this.#table.setRateAt(name, rateAt);
    for (const [key, given] of turns) this.#table.giveTurn(name, key, given);
    for (const page of series) this.#table.putPage(name, page);
  }

  #days(queue: string): readonly MovedRow[] {
    const cells = this.#table.statistics(queue, 0, dayOf(Number.MAX_SAFE_INTEGER));
    return [...new Set(cells.map(({ day }) => day))].map((day) => {
      const ofDay = cells.filter((cell) => cell.day === day);
      const texts = ofDay.map(({ kind, name, figures }) => ({ kind, name, figures: figuresText(figures) }));
      return { key: keyOfDay({ queue, day }), value: { queue, day, cells: canonicalCells(texts) } };
    });
  }

  #putDay({ queue, day, cells }: MovedDay): void {
    for (const { kind, name, figures } of cells)
      this.#table.putCell(queue, { day, kind, name, figures: readFigures(figures) });
  }
}
