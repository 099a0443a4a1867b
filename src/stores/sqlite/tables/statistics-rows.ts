/**
 * Statistics: one row per cell. Measurements are aggregated in memory and added to the rows once per transaction, so that a
 * group of calls writes few rows, however many jobs it concerns.
 */
import type { Aggregate } from '../../../core/statistics/aggregate.ts';
import { aggregateText, mergeAggregate, newAggregate, readAggregate } from '../../../core/statistics/aggregate.ts';
import type { CellKind, Measurement, StoredCell } from '../../../core/statistics/statistics.ts';
import { cellOrder, cellsOf, dayOf, MAX_CELLS, measure } from '../../../core/statistics/statistics.ts';
import type { StoredSize } from '../../../core/statistics/storage.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';

type CellRow = readonly [day: number, kind: CellKind, name: string, figures: string];

/** The pending aggregates of one queue, day, worker, tags and failure group. Most transactions have only one bucket. */
interface Bucket {
  readonly queue: string;
  readonly day: number;
  readonly worker: string;
  readonly tags: readonly string[];
  readonly group: string | null;
  readonly figures: Aggregate;
}

export class StatisticsRows {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #size: Statement;
  readonly #days: Statement;
  readonly #before: Statement;
  readonly #forget: Statement;
  readonly #shed: Statement;
  #buckets = new Map<string, Bucket>();
  /** The bucket of the last measurement, which is usually that of the next one too. */
  #latest: Bucket | undefined;

  constructor(db: Database) {
    const one = 'queue = ? AND day = ? AND kind = ? AND name = ?';
    this.#read = db.prepare(`SELECT figures FROM statistics WHERE ${one}`);
    this.#write = db.prepare(
      'INSERT OR REPLACE INTO statistics (queue, day, kind, name, figures) VALUES (?, ?, ?, ?, ?)',
    );
    this.#size = db.prepare('SELECT count(*) FROM statistics WHERE queue = ? AND day = ?');
    this.#days = db.prepare('SELECT day, kind, name, figures FROM statistics WHERE queue = ? AND day BETWEEN ? AND ?');
    this.#before = db.prepare(
      'SELECT count(*), ifnull(sum(octet_length(figures)), 0) FROM statistics WHERE queue = ? AND day < ?',
    );
    this.#forget = db.prepare(`DELETE FROM statistics WHERE (queue, day, kind, name) IN (
      SELECT queue, day, kind, name FROM statistics WHERE queue = ? AND day < ? ORDER BY day, kind, name LIMIT +?)`);
    this.#shed = db.prepare(`UPDATE statistics SET figures = substr(figures, 1, instr(figures, ';') - 1)
      WHERE (queue, day, kind, name) IN (SELECT queue, day, kind, name FROM statistics
        WHERE queue = ? AND day < ? AND instr(figures, ';') > 0 ORDER BY day, kind, name LIMIT +?)`);
  }

  measure(measurement: Measurement): void {
    const day = dayOf(measurement.at);
    if (this.#latest === undefined || !isOf(this.#latest, measurement, day))
      this.#latest = this.#bucket(measurement, day);
    measure(this.#latest.figures, measurement);
  }

  statistics(queue: string, from: number, to: number): readonly StoredCell[] {
    const rows = allRows<CellRow>(this.#days, queue, from, to);
    return rows
      .map(([day, kind, name, figures]) => ({ day, kind, name, figures: readAggregate(figures) }))
      .sort(cellOrder);
  }

  before(queue: string, day: number): StoredSize {
    const [count, bytes] = firstRow<readonly [number, number]>(this.#before, queue, day) ?? [0, 0];
    return { count, bytes };
  }

  forgetDays(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    execute(this.#forget, queue, kept.day, limit);
    execute(this.#shed, queue, kept.histogramDay, limit);
  }

  save(): void {
    if (this.#buckets.size === 0) return;
    const cells = new Map<string, Cell>();
    for (const bucket of this.#buckets.values()) this.#spread(bucket, cells);
    for (const { address, figures } of cells.values()) execute(this.#write, ...address, aggregateText(figures));
    this.forget();
  }

  /** Drops the pending aggregates: they were written, or the transaction was rolled back. */
  forget(): void {
    this.#buckets.clear();
    this.#latest = undefined;
  }

  /** Returns a function that restores the pending aggregates of this moment. */
  snapshot(): () => void {
    const copy = [...this.#buckets].map(([key, bucket]): [string, Bucket] => [
      key,
      { ...bucket, figures: copyOf(bucket) },
    ]);
    return () => {
      this.#buckets = new Map(copy);
      this.#latest = undefined;
    };
  }

  /** Adds a bucket to every cell that it belongs to. */
  #spread(bucket: Bucket, cells: Map<string, Cell>): void {
    for (const [kind, name] of cellsOf(bucket)) {
      const address: CellAddress = [bucket.queue, bucket.day, kind, name];
      const key = address.join(' ');
      const cell = cells.get(key) ?? this.#cell(address, cells, bucket);
      if (cell === undefined) continue;
      mergeAggregate(cell.figures, bucket.figures);
      cells.set(key, cell);
    }
  }

  /** Returns the stored cell, or an empty one; undefined if the day has no room for another cell. */
  #cell(address: CellAddress, cells: ReadonlyMap<string, Cell>, { figures }: Bucket): Cell | undefined {
    const row = firstRow<readonly [string]>(this.#read, ...address);
    if (row !== undefined) return { address, figures: readAggregate(row[0]), isNew: false };
    const [queue, day, kind] = address;
    const unwritten = [...cells.values()].filter((each) => each.isNew && each.address[0] === queue).length;
    const hasRoom = kind === 'queue' || this.#count(queue, day) + unwritten < MAX_CELLS;
    return hasRoom ? { address, figures: newAggregate(figures.firstAt), isNew: true } : undefined;
  }

  #count(queue: string, day: number): number {
    return firstRow<readonly [number]>(this.#size, queue, day)?.[0] ?? 0;
  }

  #bucket({ queue, worker, tags, group, at }: Measurement, day: number): Bucket {
    const key = JSON.stringify([queue, day, worker, tags, group]);
    const bucket = this.#buckets.get(key) ?? { queue, day, worker, tags, group, figures: newAggregate(at) };
    this.#buckets.set(key, bucket);
    return bucket;
  }
}

interface Cell {
  readonly address: CellAddress;
  readonly figures: Aggregate;
  readonly isNew: boolean;
}
type CellAddress = readonly [queue: string, day: number, kind: CellKind, name: string];

function isOf(bucket: Bucket, { queue, worker, tags, group }: Measurement, day: number): boolean {
  return (
    bucket.queue === queue &&
    bucket.worker === worker &&
    bucket.day === day &&
    bucket.group === group &&
    (bucket.tags === tags || (bucket.tags.length === 0 && tags.length === 0))
  );
}

function copyOf({ figures }: Bucket): Aggregate {
  return readAggregate(aggregateText(figures));
}
