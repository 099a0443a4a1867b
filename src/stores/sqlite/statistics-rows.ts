/**
 * Statistics in SQLite: a row a cell. What is measured is gathered in memory and added to the rows once a transaction,
 * so that a group of calls writes a few rows however many jobs it is about.
 */
import type { Figures } from '../../core/figures.ts';
import { addFigures, figuresText, newFigures, readFigures } from '../../core/figures.ts';
import type { CellKind, Measurement, StoredCell } from '../../core/statistics.ts';
import { cellOrder, cellsOf, dayOf, MAX_CELLS, measure } from '../../core/statistics.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { allRows, execute, firstRow } from './sqlite-database.ts';

type CellRow = readonly [day: number, kind: CellKind, name: string, figures: string];

interface Gathered {
  readonly queue: string;
  readonly day: number;
  readonly kind: CellKind;
  readonly name: string;
  readonly figures: Figures;
}

export class StatisticsRows {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #size: Statement;
  readonly #days: Statement;
  readonly #forget: Statement;
  readonly #shed: Statement;
  #gathered = new Map<string, Gathered>();

  constructor(db: Database) {
    const one = 'queue = ? AND day = ? AND kind = ? AND name = ?';
    this.#read = db.prepare(`SELECT figures FROM statistics WHERE ${one}`);
    this.#write = db.prepare(
      'INSERT OR REPLACE INTO statistics (queue, day, kind, name, figures) VALUES (?, ?, ?, ?, ?)',
    );
    this.#size = db.prepare('SELECT count(*) FROM statistics WHERE queue = ? AND day = ?');
    this.#days = db.prepare('SELECT day, kind, name, figures FROM statistics WHERE queue = ? AND day BETWEEN ? AND ?');
    this.#forget = db.prepare(`DELETE FROM statistics WHERE (queue, day, kind, name) IN (
      SELECT queue, day, kind, name FROM statistics WHERE queue = ? AND day < ? ORDER BY day, kind, name LIMIT +?)`);
    this.#shed = db.prepare(`UPDATE statistics SET figures = substr(figures, 1, instr(figures, ';') - 1)
      WHERE (queue, day, kind, name) IN (SELECT queue, day, kind, name FROM statistics
        WHERE queue = ? AND day < ? AND instr(figures, ';') > 0 ORDER BY day, kind, name LIMIT +?)`);
  }

  measure(measurement: Measurement): void {
    for (const [kind, name] of cellsOf(measurement)) measure(this.#cell(measurement, kind, name).figures, measurement);
  }

  statistics(queue: string, from: number, to: number): readonly StoredCell[] {
    const rows = allRows<CellRow>(this.#days, queue, from, to);
    return rows
      .map(([day, kind, name, figures]) => ({ day, kind, name, figures: readFigures(figures) }))
      .sort(cellOrder);
  }

  forgetDays(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    execute(this.#forget, queue, kept.day, limit);
    execute(this.#shed, queue, kept.histogramDay, limit);
  }

  save(): void {
    for (const { queue, day, kind, name, figures } of this.#gathered.values()) {
      const sum = this.#stored(queue, day, kind, name);
      if (sum !== undefined) addFigures(sum, figures);
      else if (kind !== 'queue' && this.#count(queue, day) >= MAX_CELLS) continue;
      execute(this.#write, queue, day, kind, name, figuresText(sum ?? figures));
    }
    this.#gathered.clear();
  }

  /** Drops what was gathered: the transaction was undone. */
  forget(): void {
    this.#gathered.clear();
  }

  /** Answers how to go back to what was gathered by this moment. */
  mark(): () => void {
    const copy = [...this.#gathered].map(([key, cell]): [string, Gathered] => [
      key,
      { ...cell, figures: copyOf(cell) },
    ]);
    return () => {
      this.#gathered = new Map(copy);
    };
  }

  #stored(...address: [queue: string, day: number, kind: CellKind, name: string]): Figures | undefined {
    const row = firstRow<readonly [string]>(this.#read, ...address);
    return row === undefined ? undefined : readFigures(row[0]);
  }

  #count(queue: string, day: number): number {
    return firstRow<readonly [number]>(this.#size, queue, day)?.[0] ?? 0;
  }

  #cell({ queue, at }: Measurement, kind: CellKind, name: string): Gathered {
    const day = dayOf(at);
    const key = `${day} ${queue} ${kind} ${name}`;
    let cell = this.#gathered.get(key);
    if (cell === undefined) {
      cell = { queue, day, kind, name, figures: newFigures(at) };
      this.#gathered.set(key, cell);
    }
    return cell;
  }
}

function copyOf({ figures }: Gathered): Figures {
  return readFigures(figuresText(figures));
}
