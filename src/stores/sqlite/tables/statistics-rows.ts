/**
 * Statistics: one row per cell. Pending entries of the log are added here, in their order, because the number of cells of
 * a day is limited: readers add them in memory, `add` writes them.
 */
import type { Aggregate } from '../../../core/statistics/aggregate.ts';
import { aggregateText, mergeAggregate, newAggregate, readAggregate } from '../../../core/statistics/aggregate.ts';
import type { CellKind, StoredCell } from '../../../core/statistics/statistics.ts';
import { cellOrder, cellsOf, dayOf, MAX_CELLS } from '../../../core/statistics/statistics.ts';
import type { StoredSize } from '../../../core/statistics/storage.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';
import type { LogEntry } from './statistics-log.ts';

type CellRow = readonly [day: number, kind: CellKind, name: string, figures: string];
type CellAddress = readonly [queue: string, day: number, kind: CellKind, name: string];

/** A cell with the entries that were added to it. */
interface ChangedCell {
  readonly address: CellAddress;
  readonly figures: Aggregate;
  /** The bytes of its row; null if it has none yet. */
  readonly storedBytes: number | null;
}

export interface DayRange {
  readonly from: number;
  readonly to: number;
}

export class StatisticsRows {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #size: Statement;
  readonly #days: Statement;
  readonly #before: Statement;
  readonly #forget: Statement;
  readonly #shed: Statement;

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

  statistics(queue: string, { from, to }: DayRange, pending: readonly LogEntry[]): readonly StoredCell[] {
    const cells = new Map<string, StoredCell>();
    for (const [day, kind, name, figures] of allRows<CellRow>(this.#days, queue, from, to))
      cells.set(keyOf([queue, day, kind, name]), { day, kind, name, figures: readAggregate(figures) });
    for (const { address, figures } of this.#changed(entriesOf(pending, queue, { from, to })).values()) {
      const [, day, kind, name] = address;
      cells.set(keyOf(address), { day, kind, name, figures });
    }
    return [...cells.values()].sort(cellOrder);
  }

  before(queue: string, day: number, pending: readonly LogEntry[]): StoredSize {
    let [count, bytes] = firstRow<readonly [number, number]>(this.#before, queue, day) ?? [0, 0];
    const old = entriesOf(pending, queue, { from: Number.NEGATIVE_INFINITY, to: day - 1 });
    for (const { figures, storedBytes } of this.#changed(old).values()) {
      count += storedBytes === null ? 1 : 0;
      bytes += aggregateText(figures).length - (storedBytes ?? 0);
    }
    return { count, bytes };
  }

  forgetDays(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    execute(this.#forget, queue, kept.day, limit);
    execute(this.#shed, queue, kept.histogramDay, limit);
  }

  /** Adds entries of the log to the rows of their cells. */
  add(entries: readonly LogEntry[]): void {
    for (const { address, figures } of this.#changed(entries).values())
      execute(this.#write, ...address, aggregateText(figures));
  }

  /** Returns the cells of entries, with what is stored of them. Writes nothing. */
  #changed(entries: readonly LogEntry[]): ReadonlyMap<string, ChangedCell> {
    const cells = new Map<string, ChangedCell>();
    for (const entry of entries) {
      for (const [kind, name] of cellsOf(entry)) {
        const address: CellAddress = [entry.queue, dayOfEntry(entry), kind, name];
        const key = keyOf(address);
        const cell = cells.get(key) ?? this.#cell(address, cells, entry);
        if (cell === undefined) continue;
        mergeAggregate(cell.figures, entry.figures);
        cells.set(key, cell);
      }
    }
    return cells;
  }

  /** Returns the stored cell, or an empty one; undefined if the day has no room for another cell. */
  #cell(address: CellAddress, cells: ReadonlyMap<string, ChangedCell>, { figures }: LogEntry): ChangedCell | undefined {
    const row = firstRow<readonly [string]>(this.#read, ...address);
    if (row !== undefined) return { address, figures: readAggregate(row[0]), storedBytes: row[0].length };
    const [queue, day, kind] = address;
    const isUnwritten = ({ address: [of, on], storedBytes }: ChangedCell) =>
      storedBytes === null && of === queue && on === day;
    const hasRoom =
      kind === 'queue' || this.#count(queue, day) + [...cells.values()].filter(isUnwritten).length < MAX_CELLS;
    return hasRoom ? { address, figures: newAggregate(figures.firstAt), storedBytes: null } : undefined;
  }

  #count(queue: string, day: number): number {
    return firstRow<readonly [number]>(this.#size, queue, day)?.[0] ?? 0;
  }
}

/** An entry is of one minute, so it is of one day. */
export function dayOfEntry({ figures }: LogEntry): number {
  return dayOf(figures.firstAt);
}

function keyOf(address: CellAddress): string {
  return address.join(' ');
}

function entriesOf(entries: readonly LogEntry[], queue: string, { from, to }: DayRange): readonly LogEntry[] {
  return entries.filter((entry) => entry.queue === queue && dayOfEntry(entry) >= from && dayOfEntry(entry) <= to);
}
