import { describe, expect, it } from 'vitest';
import type { Lease } from '../core/job/job.ts';
import { expectationOf } from './expected-end.ts';
import { MIN_SAMPLES, usualRun } from './usual-run.ts';

const NOW = 1_750_000_000_000;
const usual = { samples: 100, meanMs: 120_000, p50Ms: 100_000, p95Ms: 300_000 };
const lease = { claimedAt: NOW, startedAt: null } as Lease;

const running = (percent: number | null, at = NOW) => ({ lease, progress: { percent, text: null, at } });

describe('the expected end of a running job', () => {
  it('uses progress when the queue has no statistics', () => {
    expect(expectationOf(running(25, NOW + 50_000), null, NOW + 50_000)).toEqual({
      endAt: NOW + 200_000,
      basis: 'progress',
      isSlow: false,
    });
  });

  it('uses the history of the queue when the job reports no progress', () => {
    const after = (ms: number) => expectationOf({ lease, progress: null }, usual, NOW + ms);
    expect(after(1)).toEqual({ endAt: NOW + 100_000, basis: 'history', isSlow: false });
    expect(after(100_001)).toEqual({ endAt: NOW + 300_000, basis: 'history', isSlow: false });
    expect(after(300_001)).toEqual({ endAt: null, basis: null, isSlow: true });
  });

  it('combines both, with a weight that grows with the progress', () => {
    const at = (percent: number) => expectationOf(running(percent, NOW + 50_000), usual, NOW + 50_000);
    expect(at(20)).toMatchObject({ endAt: NOW + 0.2 * 250_000 + 0.8 * 100_000, basis: 'both' });
    expect(at(100)).toMatchObject({ endAt: NOW + 50_000, basis: 'both' });
  });

  it('is null for a job that does not run', () => {
    expect(expectationOf({ lease: null, progress: null }, usual, NOW)).toEqual({
      endAt: null,
      basis: null,
      isSlow: false,
    });
  });
});

describe('the usual run time', () => {
  const day = (count: number, histogram: readonly (readonly [number, number])[] | null) => ({
    run: { count, mean: 1_500, variance: 0, histogram },
  });

  it('is null with too few samples', () => {
    expect(usualRun([day(MIN_SAMPLES - 1, [[1_000, MIN_SAMPLES - 1]])])).toBeNull();
    expect(usualRun([day(1_000, null)])).toBeNull();
  });

  it('sums the days that still have histograms', () => {
    const days = [
      day(10, [[1_000, 10]]),
      day(10, [
        [1_000, 8],
        [2_000, 2],
      ]),
      day(5, null),
    ];
    expect(usualRun(days)).toEqual({ samples: 20, meanMs: 1_500, p50Ms: 1_000 + (10 / 18) * 1_000, p95Ms: 2_500 });
  });
});
