/** Bins of durations for a histogram with a logarithmic axis from 1 ms to 30 days. Pure. */
import type { Histogram } from '../../../src/core/statistics/histogram.ts';
import { addHistograms, DAY_MS, quantile } from '../../../src/core/statistics/histogram.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const MIN_MS = 1;
export const MAX_MS = 30 * DAY_MS;

/** Edges of the bins. Each is also the start of a statistics bucket, so that no bucket is split. */
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

/** Returns the bins; shorter durations count in the first, longer ones in the last. */
export function binsOf(histogram: Histogram): readonly Bin[] {
  return EDGES.slice(0, -1).map((fromMs, place) => {
    const toMs = EDGES[place + 1] ?? MAX_MS;
    const isFirst = place === 0;
    const isLast = place === EDGES.length - 2;
    const inside = histogram.filter(([ms]) => (ms >= fromMs || isFirst) && (ms < toMs || isLast));
    return { fromMs, toMs, count: inside.reduce((sum, [, count]) => sum + count, 0) };
  });
}

/** The position on the axis, 0 to 1. */
export function placeOf(ms: number): number {
  const within = Math.min(MAX_MS, Math.max(MIN_MS, ms));
  return Math.log(within / MIN_MS) / Math.log(MAX_MS / MIN_MS);
}

/** The height of a bar, 0 to 1; logarithmic, so that 1 among 100,000 is visible. */
export function heightOf(count: number, most: number): number {
  return count === 0 ? 0 : Math.log(1 + count) / Math.log(1 + most);
}

export interface Spread {
  readonly count: number;
  readonly histogram: Histogram;
  readonly halfMs: number | null;
  readonly mostMs: number | null;
}

/** Adds up several days; `halfMs` is the median, `mostMs` the 95th percentile. */
export function spreadOf(days: readonly { readonly histogram: Histogram | null }[]): Spread {
  const histogram = addHistograms(days.map((day) => day.histogram ?? []));
  const count = histogram.reduce((sum, [, each]) => sum + each, 0);
  return { count, histogram, halfMs: quantile(histogram, 0.5), mostMs: quantile(histogram, 0.95) };
}
