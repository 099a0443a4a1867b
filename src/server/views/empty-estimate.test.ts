import { describe, expect, it } from 'vitest';
import { emptyEstimate } from './empty-estimate.ts';

const NOW = 1_000_000;
const backlog = { jobs: 10, minutes: [], usual: null, slots: 2, now: NOW };
const quiet = (count: number): number[] => Array<number>(count).fill(0);
const usual = { samples: 20, meanMs: 30_000, p50Ms: 30_000, p95Ms: 60_000 };

describe('the estimate when a queue is empty', () => {
  it('uses the minutes since the first job, and not the idle ones before', () => {
    expect(emptyEstimate({ ...backlog, minutes: [...quiet(57), 5, 5, 1] })).toEqual({
      at: NOW + 2 * 60_000,
      basis: '5 per minute in the last 2 minutes',
    });
  });

  it('uses the last 15 minutes only, with a pause between jobs', () => {
    const minutes = [...Array<number>(44).fill(100), ...quiet(5), 1, ...quiet(9), 7];
    expect(emptyEstimate({ ...backlog, minutes })).toEqual({
      at: NOW + 100 * 60_000,
      basis: '0.1 per minute in the last 10 minutes',
    });
  });

  it('uses earlier jobs while none has ended lately', () => {
    expect(emptyEstimate({ ...backlog, minutes: [9, ...quiet(59)], usual })).toEqual({
      at: NOW + 150_000,
      basis: 'the mean run of 30 s, 2 at once',
    });
  });

  it('is unknown for an empty queue, and without any earlier job', () => {
    expect(emptyEstimate({ ...backlog, jobs: 0, minutes: [5, 5, 5], usual })).toBeNull();
    expect(emptyEstimate({ ...backlog, minutes: quiet(60) })).toBeNull();
  });
});
