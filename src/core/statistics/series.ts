/**
 * Throughput over time: how many attempts were completed and how many jobs failed, by minute for two hours and by hour for
 * sixty days. Counted with the statistics, in the same step as the settlement.
 *
 * Cells stand together in pages, and a page stands in a slot that later pages take over: so a queue never has more of
 * them than there are slots, and nothing has to be forgotten. What is too old is not shown.
 */

import { byText } from '../input/text-order.ts';
import type { Measurement } from './statistics.ts';

/** `cells` a page, `slots` a queue, and how many cells are shown, the present one among them. */
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

/** What ended in one minute or hour; those in which nothing did are not told. */
export interface SeriesPoint {
  /** The queue. */
  readonly queue: string;
  /** When it began. */
  readonly at: number;
  /** How many attempts completed. */
  readonly done: number;
  /** How many jobs failed. */
  readonly failed: number;
}

export interface Ends {
  readonly done: number;
  readonly failed: number;
}

/** What a measurement adds; null for what ended nothing. */
export function endsIn({ runMs, ends }: Measurement): Ends | null {
  if (runMs !== null) return { done: 1, failed: 0 };
  return ends.includes('failures') ? { done: 0, failed: 1 } : null;
}

export function slotOf(span: Span, page: number): number {
  return page % SPANS[span].slots;
}

export function pageAt(span: Span, at: number): number {
  return Math.floor(at / SPANS[span].ms / SPANS[span].cells);
}

/**
 * A page with more ends in it; `known` is what stands in its slot. An older one gives way; a later one, which a clock that
 * was set back may find there, stays as it is.
 */
export function withEnds(
  known: SeriesPage | undefined,
  span: Span,
  { at, done, failed }: Ends & { at: number },
): SeriesPage {
  const { ms, cells } = SPANS[span];
  const page = pageAt(span, at);
  if (known !== undefined && known.page > page) return known;
  const counts = known?.page === page ? [...known.counts] : Array.from({ length: 2 * cells }, () => 0);
  const place = 2 * (Math.floor(at / ms) % cells);
  counts[place] = (counts[place] ?? 0) + done;
  counts[place + 1] = (counts[place + 1] ?? 0) + failed;
  return { span, page, counts };
}

/** By time, as far as they are kept at this moment; those that were going on at `from`, and later ones. */
export function pointsOf(
  queue: string,
  pages: readonly SeriesPage[],
  { from, now }: { readonly from: number; readonly now: number },
): readonly SeriesPoint[] {
  const points = pages.flatMap(({ span, page, counts }) => {
    const { ms, cells, kept } = SPANS[span];
    const last = Math.floor(now / ms);
    const first = Math.max(Math.floor(from / ms), last - kept + 1);
    return Array.from({ length: cells }, (_, place) => page * cells + place)
      .map((cell, place) => ({ cell, done: counts[2 * place] ?? 0, failed: counts[2 * place + 1] ?? 0 }))
      .filter(({ cell, done, failed }) => done + failed > 0 && cell <= last && cell >= first)
      .map(({ cell, done, failed }) => ({ queue, at: cell * ms, done, failed }));
  });
  return points.sort((a, b) => a.at - b.at);
}

/** The pages of a queue in the one order that all stores have them in. */
export function inPageOrder(pages: readonly SeriesPage[]): readonly SeriesPage[] {
  return pages.toSorted((a, b) => byText(a.span, b.span) || a.page - b.page);
}

/** As text: the numbers with a space between them. */
export const countsText = (counts: readonly number[]): string => counts.join(' ');
export const readCounts = (text: string): readonly number[] => text.split(' ').map(Number);
