/**
 * Throughput over time: one row per page (core/statistics/series.ts). Ends come from the entries of the log of statistics:
 * readers add pending ones in memory, `add` writes them.
 */
import type { EndCounts, SeriesPage, Span } from '../../../core/statistics/series.ts';
import {
  countsText,
  pageAt,
  readCounts,
  ringSlotOf,
  SPAN_NAMES,
  SPANS,
  withEnds,
} from '../../../core/statistics/series.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';
import type { LogEntry } from './statistics-log.ts';

type QueueEnds = EndCounts & { readonly queue: string; readonly at: number };

export class SeriesRows {
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #pages: Statement;

  constructor(db: Database) {
    this.#read = db.prepare('SELECT page, counts FROM series WHERE queue = ? AND span = ? AND slot = ?');
    this.#write = db.prepare('INSERT OR REPLACE INTO series (queue, span, slot, page, counts) VALUES (?, ?, ?, ?, ?)');
    this.#pages = db.prepare('SELECT page, counts FROM series WHERE queue = ? AND span = ? AND page >= ?');
  }

  /** Returns the pages from `first` on. */
  pages(queue: string, { span, first }: { span: Span; first: number }, pending: readonly LogEntry[]): SeriesPage[] {
    const rows = allRows<readonly [number, string]>(this.#pages, queue, span, first);
    const pages = new Map<number, SeriesPage>();
    for (const [page, counts] of rows) pages.set(ringSlotOf(span, page), { span, page, counts: readCounts(counts) });
    // An older page in a slot is not read, and a pending one that is older still is left out below.
    for (const ends of endsOf(pending).filter((each) => each.queue === queue)) {
      const slot = ringSlotOf(span, pageAt(span, ends.at));
      pages.set(slot, withEnds(pages.get(slot), span, ends));
    }
    return [...pages.values()].filter(({ page }) => page >= first);
  }

  put(queue: string, { span, page, counts }: SeriesPage): void {
    execute(this.#write, queue, span, ringSlotOf(span, page), page, countsText(counts));
  }

  /** Adds the ends of log entries to the rows of their pages. */
  add(entries: readonly LogEntry[]): void {
    for (const { queue, ...ends } of endsOf(entries))
      for (const span of SPAN_NAMES) this.put(queue, withEnds(this.#page(queue, span, ends.at), span, ends));
  }

  #page(queue: string, span: Span, at: number): SeriesPage | undefined {
    const row = firstRow<readonly [number, string]>(this.#read, queue, span, ringSlotOf(span, pageAt(span, at)));
    return row && { span, page: row[0], counts: readCounts(row[1]) };
  }
}

/** Returns the ends by queue and minute: what completed ran, and what failed is counted as a failure. */
function endsOf(entries: readonly LogEntry[]): readonly QueueEnds[] {
  const sums = new Map<string, QueueEnds>();
  for (const { queue, minute, figures } of entries) {
    const key = `${queue} ${minute}`;
    const { done, failed } = sums.get(key) ?? { done: 0, failed: 0 };
    const ends = { done: done + figures.run.count, failed: failed + figures.ends.failures };
    if (ends.done + ends.failed > 0) sums.set(key, { queue, at: minute * SPANS.minute.ms, ...ends });
  }
  return [...sums.values()];
}
