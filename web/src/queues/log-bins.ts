/** Bins of durations for a histogram with a logarithmic axis from 1 ms to 30 days, and their figures. Pure. */
import type { Histogram } from '../../../src/core/statistics/histogram.ts';
import { addHistograms, DAY_MS, quantile } from '../../../src/core/statistics/histogram.ts';
import type { SpreadView } from '../../../src/core/statistics/statistics.ts';
import { MIN_SAMPLES } from '../../../src/wire/usual-run.ts';
import { shortDuration } from '../ui/short-duration.ts';

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
  /** Exact, as is the standard deviation. */
  readonly meanMs: number;
  readonly deviationMs: number;
  /** Median and 95th percentile; null with too few jobs, because a bucket is wide. */
  readonly halfMs: number | null;
  readonly mostMs: number | null;
}

type Day = Pick<SpreadView, 'count' | 'mean' | 'variance' | 'histogram'>;

/** Adds up the days that still have a histogram. */
export function spreadOf(all: readonly Day[]): Spread {
  const days = all.filter(({ histogram }) => histogram !== null);
  const histogram = addHistograms(days.map((day) => day.histogram ?? []));
  const sum = (of: (day: Day) => number): number => days.reduce((total, day) => total + of(day), 0);
  const count = sum((day) => day.count);
  const meanMs = count === 0 ? 0 : sum((day) => day.count * day.mean) / count;
  const squares = sum((day) => Math.max(0, day.count - 1) * day.variance + day.count * (day.mean - meanMs) ** 2);
  const hasMany = count >= MIN_SAMPLES;
  return {
    count,
    histogram,
    meanMs,
    deviationMs: count < 2 ? 0 : Math.sqrt(squares / (count - 1)),
    halfMs: hasMany ? quantile(histogram, 0.5) : null,
    mostMs: hasMany ? quantile(histogram, 0.95) : null,
  };
}

/** The figures as text: exact ones for few jobs, median and 95th percentile for many. */
export function spreadText({ count, meanMs, deviationMs, halfMs, mostMs }: Spread): string {
  if (count === 0) return 'no data';
  if (count === 1) return `1 job: ${shortDuration(meanMs)}`;
  const jobs = `${count.toLocaleString('en')} jobs`;
  if (halfMs !== null && mostMs !== null)
    return `${jobs}, median ${shortDuration(halfMs)}, p95 ${shortDuration(mostMs)}`;
  if (count > 2) return `${jobs}, mean ${shortDuration(meanMs)} ± ${shortDuration(deviationMs)}`;
  // Two values follow from their mean and their deviation.
  const away = deviationMs / Math.SQRT2;
  return `${jobs}: ${shortDuration(meanMs - away)} and ${shortDuration(meanMs + away)}`;
}
