/** Durations counted for a drawing with a logarithmic axis, from a millisecond to thirty days. Pure. */
import type { Histogram } from '../../../src/core/statistics/histogram.ts';
import { addHistograms, DAY_MS, quantile } from '../../../src/core/statistics/histogram.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const LEAST_MS = 1;
export const MOST_MS = 30 * DAY_MS;

/** Where bars begin: each is also where a bucket of the statistics begins, so that none has to be split. */
const EDGES: readonly number[] = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 12].map((hours) => hours * HOUR),
  ...[1, 2, 3, 7, 14, 30].map((days) => days * DAY_MS),
];

export interface Bin {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** Shorter ones are in the first, longer ones in the last. */
export function binsOf(histogram: Histogram): readonly Bin[] {
  return EDGES.slice(0, -1).map((fromMs, place) => {
    const toMs = EDGES[place + 1] ?? MOST_MS;
    const isFirst = place === 0;
    const isLast = place === EDGES.length - 2;
    const inside = histogram.filter(([ms]) => (ms >= fromMs || isFirst) && (ms < toMs || isLast));
    return { fromMs, toMs, count: inside.reduce((sum, [, count]) => sum + count, 0) };
  });
}

/** Where on the axis, from 0 to 1. */
export function placeOf(ms: number): number {
  const within = Math.min(MOST_MS, Math.max(LEAST_MS, ms));
  return Math.log(within / LEAST_MS) / Math.log(MOST_MS / LEAST_MS);
}

/** How high, from 0 to 1: one among a hundred thousand must still be seen. */
export function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.log(1 + count) / Math.log(1 + most);
}

export interface Spread {
  readonly count: number;
  readonly histogram: Histogram;
  readonly halfMs: number | null;
  readonly mostMs: number | null;
}

/** Of several days together: half of all are at most `halfMs`, nineteen of twenty at most `mostMs`. */
export function spreadOf(days: readonly { readonly histogram: Histogram | null }[]): Spread {
  const histogram = addHistograms(days.map((day) => day.histogram ?? []));
  const count = histogram.reduce((sum, [, each]) => sum + each, 0);
  return { count, histogram, halfMs: quantile(histogram, 0.5), mostMs: quantile(histogram, 0.95) };
}
