import { describe, expect, it } from 'vitest';
import { addHistograms, bucketOf, bucketStart, DAY_MS, LAST_BUCKET, quantile } from './histogram.ts';

describe('histogram buckets', () => {
  it('are contiguous', () => {
    for (let bucket = 0; bucket <= LAST_BUCKET; bucket += 1) {
      expect(bucketOf(bucketStart(bucket))).toBe(bucket);
      if (bucket > 0) expect(bucketOf(bucketStart(bucket) - 0.5)).toBe(bucket - 1);
    }
  });

  it('are fine for short durations and coarse for long ones', () => {
    const starts = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000];
    expect(starts.map(bucketOf)).toEqual([...starts.keys()]);
    const width = (ms: number): number => bucketStart(bucketOf(ms) + 1) - bucketStart(bucketOf(ms));
    expect([59_000, 61_000, 3_599_000, 3_600_000, DAY_MS - 1, DAY_MS, 3 * DAY_MS].map(width)).toEqual([
      1_000,
      60_000,
      60_000,
      900_000,
      900_000,
      3_600_000,
      DAY_MS,
    ]);
  });

  it('end with a year or more', () => {
    expect(bucketStart(LAST_BUCKET)).toBe(365 * DAY_MS);
    expect(bucketOf(4_000 * DAY_MS)).toBe(LAST_BUCKET);
  });

  it('can be added, and give quantiles', () => {
    const sum = addHistograms([
      [
        [10, 40],
        [20, 10],
      ],
      [
        [5, 10],
        [10, 40],
      ],
    ]);
    expect(sum).toEqual([
      [5, 10],
      [10, 80],
      [20, 10],
    ]);
    expect(quantile(sum, 0.5)).toBe(15);
    expect(quantile(sum, 0.95)).toBe(35);
    expect(quantile(sum, 1)).toBe(50);
    expect(quantile([], 0.5)).toBeNull();
  });
});
