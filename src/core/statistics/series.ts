/**
 * Throughput over time: completed attempts and failed jobs, by minute for two hours and by hour for sixty days. Counted
 * with the statistics, in the same step as the settlement.
 *
 * Cells are grouped in pages. Pages are kept in a ring of fixed size, and a later page overwrites an older one: a queue
 * never has more pages than the ring has slots, and no page has to be deleted. Cells that are too old are not returned.
 */

import { byText } from '../input/text-order.ts';
import type { Measurement } from './statistics.ts';

/** `cells` of a page, `slots` of a queue's ring, and how many cells are returned, including the present one. */
export const SPANS = {
  minute: { ms: 60_000, cells: 10, slots: 16, kept: 120 },
  hour: { ms: 3_600_000, cells: 24, slots: 64, kept: 1_440 },
} as const;
export type Span = keyof typeof SPANS;
export const SPAN_NAMES: readonly Span[] = ['minute', 'hour'];

export interface SeriesPage {
  readonly span: Span;
  /** Pages are numbered from 1970 on. */
  readonly page: number;
  /** For each of its cells: done, then failed. */
  readonly counts: readonly number[];
}

/** The ends in one minute or hour; periods without any are left out. */
export interface SeriesPoint {
  /** The queue. */
  readonly queue: string;
  /** When the period began. */
  readonly at: number;
  /** How many attempts completed. */
  readonly done: number;
  /** How many jobs failed. */
  readonly failed: number;
}

export interface EndCounts {
  readonly done: number;
  readonly failed: number;
}

/** Returns the ends that a measurement adds, or null if it ended nothing. */
export function endCountsOf({ runMs, ends }: Measurement): EndCounts | null {
  if (runMs !== null) return { done: 1, failed: 0 };
  return ends.includes('failures') ? { done: 0, failed: 1 } : null;
}

export function ringSlotOf(span: Span, page: number): number {
  return page % SPANS[span].slots;
}

export function pageAt(span: Span, at: number): number {
  return Math.floor(at / SPANS[span].ms / SPANS[span].cells);
}

/**
 * Adds ends to a page. `known` is the page in its ring slot. An older page is overwritten; a later one, which can exist
 * after the clock was set back, stays unchanged.
 */
export function withEnds(
  known: SeriesPage | undefined,
  span: Span,
  { at, done, failed }: EndCounts & { at: number },
): SeriesPage {
  const { ms, cells } = SPANS[span];
  const page = pageAt(span, at);
  if (known !== undefined && known.page > page) return known;
  const counts = known?.page === page ? [...known.counts] : Array.from({ length: 2 * cells }, () => 0);
  const index = 2 * (Math.floor(at / ms) % cells);
  counts[index] = (counts[index] ?? 0) + done;
  counts[index + 1] = (counts[index + 1] ?? 0) + failed;
  return { span, page, counts };
}

/** Returns the points by time, as long as they are kept now, from the period that includes `from` on. */
export function pointsOf(
  queue: string,
  pages: readonly SeriesPage[],
  { from, now }: { readonly from: number; readonly now: number },
): readonly SeriesPoint[] {
  const points = pages.flatMap(({ span, page, counts }) => {
    const { ms, cells, kept } = SPANS[span];
    const last = Math.floor(now / ms);
    const first = Math.max(Math.floor(from / ms), last - kept + 1);
    return Array.from({ length: cells }, (_, index) => page * cells + index)
      .map((cell, index) => ({ cell, done: counts[2 * index] ?? 0, failed: counts[2 * index + 1] ?? 0 }))
      .filter(({ cell, done, failed }) => done + failed > 0 && cell <= last && cell >= first)
      .map(({ cell, done, failed }) => ({ queue, at: cell * ms, done, failed }));
  });
  return points.sort((a, b) => a.at - b.at);
}

/** Orders the pages of a queue, the same in all stores. */
export function sortedPages(pages: readonly SeriesPage[]): readonly SeriesPage[] {
  return pages.toSorted((a, b) => byText(a.span, b.span) || a.page - b.page);
}

/** The text of counts: numbers separated by spaces. */
export const countsText = (counts: readonly number[]): string => counts.join(' ');
export const readCounts = (text: string): readonly number[] => text.split(' ').map(Number);
