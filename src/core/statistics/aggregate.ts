/**
 * The aggregate of one cell of statistics, built incrementally: wait and run times (count, mean, variance, histogram),
 * and how often an attempt ended without success. Also the text in which a store keeps it.
 *
 * Mean and variance are streamed (Welford; two aggregates are merged as Chan does), because sums of squares of
 * milliseconds exceed the precision of a double. Lua restates the merge and the text.
 */
import { bucketOf } from './histogram.ts';

/** `m2` is the sum of the squared distances from the mean. */
export interface Spread {
  count: number;
  mean: number;
  m2: number;
  readonly buckets: Map<number, number>;
}

export const ENDS = ['retries', 'failures', 'interruptions'] as const;
export type End = (typeof ENDS)[number];

export interface Aggregate {
  readonly wait: Spread;
  readonly run: Spread;
  readonly ends: Record<End, number>;
  firstAt: number;
  lastAt: number;
  /** False once the histograms have expired. */
  hasBuckets: boolean;
}

const emptySpread = (): Spread => ({ count: 0, mean: 0, m2: 0, buckets: new Map() });

export function newAggregate(at: number): Aggregate {
  return {
    wait: emptySpread(),
    run: emptySpread(),
    ends: { retries: 0, failures: 0, interruptions: 0 },
    firstAt: at,
    lastAt: at,
    hasBuckets: true,
  };
}

export function addValue(spread: Spread, ms: number): void {
  const distance = ms - spread.mean;
  spread.count += 1;
  spread.mean += distance / spread.count;
  spread.m2 += distance * (ms - spread.mean);
  const bucket = bucketOf(ms);
  spread.buckets.set(bucket, (spread.buckets.get(bucket) ?? 0) + 1);
}

export function mergeAggregate(into: Aggregate, more: Aggregate): void {
  addSpread(into.wait, more.wait);
  addSpread(into.run, more.run);
  for (const end of ENDS) into.ends[end] += more.ends[end];
  into.firstAt = Math.min(into.firstAt, more.firstAt);
  into.lastAt = Math.max(into.lastAt, more.lastAt);
}

function addSpread(into: Spread, more: Spread): void {
  if (more.count === 0) return;
  const count = into.count + more.count;
  const distance = more.mean - into.mean;
  into.mean += (distance * more.count) / count;
  into.m2 += more.m2 + (distance * distance * into.count * more.count) / count;
  into.count = count;
  for (const [bucket, times] of more.buckets) into.buckets.set(bucket, (into.buckets.get(bucket) ?? 0) + times);
}

/** Returns the variance of a sample: the divisor is the count less one. */
export function varianceOf({ count, m2 }: Pick<Spread, 'count' | 'm2'>): number {
  return count < 2 ? 0 : m2 / (count - 1);
}

/** Eleven numbers; then, unless the histograms have expired, `;` and each bucket with its letter. */
export function aggregateText({ wait, run, ends, firstAt, lastAt, hasBuckets }: Aggregate): string {
  const numbers = [wait, run].flatMap(({ count, mean, m2 }) => [count, mean, m2]);
  const head = [...numbers, ...ENDS.map((end) => ends[end]), firstAt, lastAt].join(' ');
  return hasBuckets ? `${head};${bucketText('w', wait)}${bucketText('r', run)}` : head;
}

function bucketText(letter: string, { buckets }: Spread): string {
  return [...buckets].map(([bucket, times]) => ` ${letter}${bucket}=${times}`).join('');
}

export function readAggregate(text: string): Aggregate {
  const [head = '', buckets] = text.split(';');
  const [waits = 0, waitMean = 0, waitM2 = 0, runs = 0, runMean = 0, runM2 = 0, ...rest] = head.split(' ').map(Number);
  const [retries = 0, failures = 0, interruptions = 0, firstAt = 0, lastAt = 0] = rest;
  return {
    wait: { count: waits, mean: waitMean, m2: waitM2, buckets: readBuckets('w', buckets) },
    run: { count: runs, mean: runMean, m2: runM2, buckets: readBuckets('r', buckets) },
    ends: { retries, failures, interruptions },
    firstAt,
    lastAt,
    hasBuckets: buckets !== undefined,
  };
}

function readBuckets(letter: string, text = ''): Map<number, number> {
  const own = text.split(' ').filter((entry) => entry.startsWith(letter));
  return new Map(
    own.map((entry): [number, number] => {
      const [bucket, times] = entry.slice(1).split('=');
      return [Number(bucket), Number(times)];
    }),
  );
}

/** Removes the histograms, which expire earlier than the rest. */
export function withoutBuckets(text: string): string {
  return text.split(';', 1)[0] ?? '';
}
