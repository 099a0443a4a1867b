/** Bins of the duration histogram. */
import { expect, it } from 'vitest';
import { bucketOf, bucketStart, DAY_MS, LAST_BUCKET } from '../../../src/core/statistics/histogram.ts';
import { binsOf, heightOf, placeOf, spreadOf, spreadText } from './log-bins.ts';

it('counts every bucket once, even beyond the ends of the axis', () => {
  const histogram = Array.from({ length: LAST_BUCKET + 1 }, (_, bucket): [number, number] => [bucketStart(bucket), 1]);
  const counted = binsOf(histogram).reduce((sum, { count }) => sum + count, 0);
  expect(counted).toBe(histogram.length);
});

it('starts each bin where a bucket starts', () => {
  for (const { fromMs } of binsOf([])) expect(bucketStart(bucketOf(fromMs))).toBe(fromMs);
});

it('places 1 ms at the left end, 30 days at the right, and equal factors at equal distances', () => {
  expect([placeOf(0), placeOf(1), placeOf(30 * DAY_MS), placeOf(400 * DAY_MS)]).toEqual([0, 0, 1, 1]);
  expect(placeOf(100) - placeOf(10)).toBeCloseTo(placeOf(10) - placeOf(1));
});

it('keeps a single job visible among very many', () => {
  expect(heightOf(1, 100_000)).toBeGreaterThan(0.05);
  expect([heightOf(0, 9), heightOf(9, 9)]).toEqual([0, 1]);
});

it('adds days up and ignores days without a histogram', () => {
  const { count, halfMs, mostMs } = spreadOf([
    { count: 90, mean: 1_500, variance: 1, histogram: [[1_000, 90]] },
    { count: 7, mean: 9, variance: 1, histogram: null },
    { count: 10, mean: 61_000, variance: 1, histogram: [[60_000, 10]] },
  ]);
  expect(count).toBe(100);
  expect(halfMs).toBeLessThan(2_000);
  expect(mostMs).toBeGreaterThanOrEqual(60_000);
});

/** The statistics of one day for these durations. */
function dayOf(...values: readonly number[]) {
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  const squares = values.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const histogram = values.map((ms): [number, number] => [bucketStart(bucketOf(ms)), 1]);
  return { count: values.length, mean, variance: values.length < 2 ? 0 : squares / (values.length - 1), histogram };
}

it.each([
  ['no data', []],
  ['1 job: 1 m', [dayOf(60_000)]],
  ['2 jobs: 50 s and 1 m 10 s', [dayOf(50_000, 70_000)]],
  ['2 jobs: 50 s and 1 m 10 s', [dayOf(50_000), dayOf(70_000)]],
  ['4 jobs, mean 4 s ± 2 s', [dayOf(2_000, 4_000), dayOf(3_000, 7_000)]],
  ['20 jobs, median 1 m 30 s', [dayOf(...Array<number>(20).fill(61_000))]],
])('says "%s" of these days', (text, days) => {
  expect(spreadText(spreadOf(days))).toContain(text);
});
