/**
 * Throughput over time: one row per page (core/statistics/series.ts). Ended attempts are counted in memory and added to the
 * rows once per transaction, however many jobs it concerns.
 */
import type { EndCounts, SeriesPage, Span } from '../../../core/statistics/series.ts';
import {
  countsText,
  endCountsOf,
  pageAt,
  readCounts,
  ringSlotOf,
  SPAN_NAMES,
  SPANS,
  withEnds,
} from '../../../core/statistics/series.ts';
import type { Measurement } from '../../../core/statistics/statistics.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';

type PendingEnds = EndCounts & { readonly queue: string; readonly at: number };

export class SeriesRows {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #pages: Statement;
  #pending = new Map<string, PendingEnds>();

  constructor(db: Database) {
    this.#read = db.prepare('SELECT page, counts FROM series WHERE queue = ? AND span = ? AND slot = ?');
    this.#write = db.prepare('INSERT OR REPLACE INTO series (queue, span, slot, page, counts) VALUES (?, ?, ?, ?, ?)');
    this.#pages = db.prepare('SELECT page, counts FROM series WHERE queue = ? AND span = ? AND page >= ?');
  }

  measure(measurement: Measurement): void {
    const ends = endCountsOf(measurement);
    if (ends === null) return;
    const { queue, at } = measurement;
    const key = `${queue} ${Math.floor(at / SPANS.minute.ms)}`;
    const { done = 0, failed = 0 } = this.#pending.get(key) ?? {};
    this.#pending.set(key, { queue, at, done: done + ends.done, failed: failed + ends.failed });
  }

  pages(queue: string, span: Span, first: number): readonly SeriesPage[] {
    const rows = allRows<readonly [number, string]>(this.#pages, queue, span, first);
    return rows.map(([page, counts]) => ({ span, page, counts: readCounts(counts) }));
  }

  put(queue: string, { span, page, counts }: SeriesPage): void {
    execute(this.#write, queue, span, ringSlotOf(span, page), page, countsText(counts));
  }

  save(): void {
    for (const { queue, ...ends } of this.#pending.values())
      for (const span of SPAN_NAMES) this.put(queue, withEnds(this.#page(queue, span, ends.at), span, ends));
    this.forget();
  }

  /** Drops the pending counts: they were written, or the transaction was rolled back. */
  forget(): void {
    this.#pending.clear();
  }

  /** Returns a function that restores the pending counts of this moment. */
  snapshot(): () => void {
    const copy = [...this.#pending];
    return () => {
      this.#pending = new Map(copy);
    };
  }

  #page(queue: string, span: Span, at: number): SeriesPage | undefined {
    const row = firstRow<readonly [number, string]>(this.#read, queue, span, ringSlotOf(span, pageAt(span, at)));
    return row && { span, page: row[0], counts: readCounts(row[1]) };
  }
}
