/**
 * Histogram buckets for durations, from a millisecond to a year: below a second in steps of 1, 2 and 5, then seconds to
 * a minute, minutes to an hour, quarter hours to a day, hours to three days, days after that.
 *
 * The same for every store, queue and day, so that histograms can be added. Lua restates `bucketOf`
 * (stores/redis/lua/lib/histogram.lua). Bucket numbers are stored: their meaning never changes.
 */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const QUARTER_MS = 15 * MINUTE_MS;
const HOUR_MS = 4 * QUARTER_MS;
export const DAY_MS = 24 * HOUR_MS;
const MAX_DAYS = 365;

/** Where the buckets below a second begin; the very first begins at 0. */
const SMALL = [1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND_MS] as const;

interface Range {
  /** The first duration that is counted in these steps, and its bucket. */
  readonly fromMs: number;
  readonly first: number;
  readonly stepMs: number;
}

/** The longest first. */
const RANGES: readonly Range[] = [
  { fromMs: 3 * DAY_MS, first: 268, stepMs: DAY_MS },
  { fromMs: DAY_MS, first: 220, stepMs: HOUR_MS },
  { fromMs: HOUR_MS, first: 128, stepMs: QUARTER_MS },
  { fromMs: MINUTE_MS, first: 69, stepMs: MINUTE_MS },
  { fromMs: SECOND_MS, first: 10, stepMs: SECOND_MS },
];

/** The last bucket holds a year or more. */
export const LAST_BUCKET = 268 + MAX_DAYS - 3;

export function bucketOf(ms: number): number {
  for (const { fromMs, first, stepMs } of RANGES)
    if (ms >= fromMs) return Math.min(LAST_BUCKET, first + Math.floor((ms - fromMs) / stepMs));
  let bucket = 0;
  while (ms >= (SMALL[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
  return bucket;
}

/** Returns the shortest duration that is counted in a bucket. */
export function bucketStart(bucket: number): number {
  const range = RANGES.find(({ first }) => bucket >= first);
  if (range !== undefined) return range.fromMs + (bucket - range.first) * range.stepMs;
  return bucket <= 0 ? 0 : (SMALL[bucket - 1] ?? 0);
}

/** Counts by bucket: where the bucket begins and its count, the shortest first. */
export type Histogram = readonly (readonly [fromMs: number, count: number])[];

export function addHistograms(histograms: readonly Histogram[]): Histogram {
  const sums = new Map<number, number>();
  for (const [fromMs, count] of histograms.flat()) sums.set(fromMs, (sums.get(fromMs) ?? 0) + count);
  return [...sums].sort(([a], [b]) => a - b);
}

/**
 * Returns the duration that a share of them does not exceed, interpolated within its bucket. Null if there are none.
 */
export function quantile(histogram: Histogram, share: number): number | null {
  const total = histogram.reduce((sum, [, count]) => sum + count, 0);
  let left = share * total;
  for (const [fromMs, count] of histogram) {
    if (left <= count) return fromMs + (left / count) * (bucketStart(bucketOf(fromMs) + 1) - fromMs);
    left -= count;
  }
  return null;
}
