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
  const { retries, failures, interruptions } = ends;
  const head = `${spreadText(wait)} ${spreadText(run)} ${retries} ${failures} ${interruptions} ${firstAt} ${lastAt}`;
  return hasBuckets ? `${head};${bucketText('w', wait)}${bucketText('r', run)}` : head;
}

const spreadText = ({ count, mean, m2 }: Spread): string => `${count} ${mean} ${m2}`;

function bucketText(letter: string, { buckets }: Spread): string {
  let text = '';
  for (const bucket of buckets.keys()) text += ` ${letter}${bucket}=${buckets.get(bucket)}`;
  return text;
}

/** Written with places and a loop: with list patterns and list functions, V8 compiled it for 76 ms. */
export function readAggregate(text: string): Aggregate {
  const headEnd = text.indexOf(';');
  const hasBuckets = headEnd >= 0;
  const head = (hasBuckets ? text.slice(0, headEnd) : text).split(' ');
  const numberAt = (place: number): number => Number(head[place] ?? 0);
  const wait = readSpread(head, 0);
  const run = readSpread(head, 3);
  if (hasBuckets) readBuckets(text.slice(headEnd + 1), wait, run);
  return {
    wait,
    run,
    ends: { retries: numberAt(6), failures: numberAt(7), interruptions: numberAt(8) },
    firstAt: numberAt(9),
    lastAt: numberAt(10),
    hasBuckets,
  };
}

function readSpread(numbers: readonly string[], from: number): Spread {
  const numberAt = (place: number): number => Number(numbers[from + place] ?? 0);
  return { count: numberAt(0), mean: numberAt(1), m2: numberAt(2), buckets: new Map() };
}

/** Each entry is a space, a letter, a bucket, `=` and a count. */
function readBuckets(text: string, wait: Spread, run: Spread): void {
  for (const entry of text.split(' ')) {
    const signAt = entry.indexOf('=');
    if (signAt < 0) continue;
    const { buckets } = entry.startsWith('w') ? wait : run;
    buckets.set(Number(entry.slice(1, signAt)), Number(entry.slice(signAt + 1)));
  }
}

/** Removes the histograms, which expire earlier than the rest. */
export function withoutBuckets(text: string): string {
  return text.split(';', 1)[0] ?? '';
}
