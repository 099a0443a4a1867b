/**
 * Statistics in SQLite: a row a cell. What is measured is gathered in memory and added to the rows once a transaction,
 * so that a group of calls writes a few rows however many jobs it is about.
 */
import type { Figures } from '../../../core/statistics/aggregate.ts';
import { addFigures, figuresText, newFigures, readFigures } from '../../../core/statistics/aggregate.ts';
import type { CellKind, Measurement, StoredCell } from '../../../core/statistics/statistics.ts';
import { cellOrder, cellsOf, dayOf, MAX_CELLS, measure } from '../../../core/statistics/statistics.ts';
import type { Held } from '../../../core/statistics/storage.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';

type CellRow = readonly [day: number, kind: CellKind, name: string, figures: string];

/** What was measured of one queue, day, worker, tags and failure group: in most transactions it is all of one heap. */
interface Heap {
  readonly queue: string;
  readonly day: number;
  readonly worker: string;
  readonly tags: readonly string[];
  readonly group: string | null;
  readonly figures: Figures;
}

export class StatisticsRows {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #size: Statement;
  readonly #days: Statement;
  readonly #before: Statement;
  readonly #forget: Statement;
  readonly #shed: Statement;
  #heaps = new Map<string, Heap>();
  /** The one that was added to last; mostly it is the next one too. */
  #latest: Heap | undefined;

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
      this.#latest = this.#heap(measurement, day);
    measure(this.#latest.figures, measurement);
  }

  statistics(queue: string, from: number, to: number): readonly StoredCell[] {
    const rows = allRows<CellRow>(this.#days, queue, from, to);
    return rows
      .map(([day, kind, name, figures]) => ({ day, kind, name, figures: readFigures(figures) }))
      .sort(cellOrder);
  }

  before(queue: string, day: number): Held {
    const [count, bytes] = firstRow<readonly [number, number]>(this.#before, queue, day) ?? [0, 0];
    return { count, bytes };
  }

  forgetDays(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    execute(this.#forget, queue, kept.day, limit);
    execute(this.#shed, queue, kept.histogramDay, limit);
  }

  save(): void {
    if (this.#heaps.size === 0) return;
    const cells = new Map<string, Cell>();
    for (const heap of this.#heaps.values()) this.#spread(heap, cells);
    for (const { address, figures } of cells.values()) execute(this.#write, ...address, figuresText(figures));
    this.forget();
  }

  /** Drops what was gathered: it was written, or the transaction was undone. */
  forget(): void {
    this.#heaps.clear();
    this.#latest = undefined;
  }

  /** Answers how to go back to what was gathered by this moment. */
  mark(): () => void {
    const copy = [...this.#heaps].map(([key, heap]): [string, Heap] => [key, { ...heap, figures: copyOf(heap) }]);
    return () => {
      this.#heaps = new Map(copy);
      this.#latest = undefined;
    };
  }

  /** Adds a heap to every cell that it belongs to. */
  #spread(heap: Heap, cells: Map<string, Cell>): void {
    for (const [kind, name] of cellsOf(heap)) {
      const address: CellAddress = [heap.queue, heap.day, kind, name];
      const key = address.join(' ');
      const cell = cells.get(key) ?? this.#cell(address, cells, heap);
      if (cell === undefined) continue;
      addFigures(cell.figures, heap.figures);
      cells.set(key, cell);
    }
  }

  /** As it is stored, or empty; nothing when there is no room for another one. */
  #cell(address: CellAddress, cells: ReadonlyMap<string, Cell>, { figures }: Heap): Cell | undefined {
    const row = firstRow<readonly [string]>(this.#read, ...address);
    if (row !== undefined) return { address, figures: readFigures(row[0]), isNew: false };
    const [queue, day, kind] = address;
    const unwritten = [...cells.values()].filter((each) => each.isNew && each.address[0] === queue).length;
    const hasRoom = kind === 'queue' || this.#count(queue, day) + unwritten < MAX_CELLS;
    return hasRoom ? { address, figures: newFigures(figures.firstAt), isNew: true } : undefined;
  }

  #count(queue: string, day: number): number {
    return firstRow<readonly [number]>(this.#size, queue, day)?.[0] ?? 0;
  }

  #heap({ queue, worker, tags, group, at }: Measurement, day: number): Heap {
    const key = JSON.stringify([queue, day, worker, tags, group]);
    const heap = this.#heaps.get(key) ?? { queue, day, worker, tags, group, figures: newFigures(at) };
    this.#heaps.set(key, heap);
    return heap;
  }
}

interface Cell {
  readonly address: CellAddress;
  readonly figures: Figures;
  readonly isNew: boolean;
}
type CellAddress = readonly [queue: string, day: number, kind: CellKind, name: string];

function isOf(heap: Heap, { queue, worker, tags, group }: Measurement, day: number): boolean {
  return (
    heap.queue === queue &&
    heap.worker === worker &&
    heap.day === day &&
    heap.group === group &&
    (heap.tags === tags || (heap.tags.length === 0 && tags.length === 0))
  );
}

function copyOf({ figures }: Heap): Figures {
  return readFigures(figuresText(figures));
}
