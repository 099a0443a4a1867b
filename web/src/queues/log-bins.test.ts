/** Bins of the duration histogram. */
import { expect, it } from 'vitest';
import { bucketOf, bucketStart, DAY_MS, LAST_BUCKET } from '../../../src/core/statistics/histogram.ts';
import { binsOf, heightOf, placeOf, spreadOf } from './log-bins.ts';

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
    { histogram: [[1_000, 90]] },
    { histogram: null },
    { histogram: [[60_000, 10]] },
  ]);
  expect(count).toBe(100);
  expect(halfMs).toBeLessThan(2_000);
  expect(mostMs).toBeGreaterThanOrEqual(60_000);
});
