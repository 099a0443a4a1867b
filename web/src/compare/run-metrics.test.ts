import { describe, expect, it } from 'vitest';
import type { AttemptView } from '../../../src/wire/attempt-view.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { Run } from './run.ts';
import { differenceOf, waitedFor } from './run-metrics.tsx';

const MINUTE = 60_000;

describe('the wait in a comparison of runs', () => {
  it('begins when the last dependency was done, not when the job was added', () => {
    expect(waitedFor(runOf({ freedAt: 50 * MINUTE }))).toBe(10 * MINUTE);
    expect(waitedFor(runOf({ freedAt: null }))).toBe(60 * MINUTE);
  });

  it('begins when a delay is over', () => {
    expect(waitedFor(runOf({ runAt: 55 * MINUTE }))).toBe(5 * MINUTE);
  });

  it('is unknown for an earlier attempt, and for a job that is free again since', () => {
    expect(waitedFor({ ...runOf({}), number: 1 })).toBeNull();
    expect(waitedFor(runOf({ freedAt: 61 * MINUTE }))).toBeNull();
  });
});

describe('the difference of two runs', () => {
  it.each([
    [100, 140, '+ 40 %'],
    [100, 230, '2.3 ×'],
    [100, 100, 'equal'],
    [null, 100, ''],
  ])('of %s and %s is "%s"', (a, b, expected) => {
    expect(differenceOf(a, b)).toBe(expected);
  });
});

/** A run claimed at minute 60, as far as the metrics read it. */
function runOf(times: Partial<Pick<JobView, 'runAt' | 'freedAt'>>): Run {
  const job = { attempt: 2, createdAt: 0, runAt: 0, freedAt: null, ...times } as JobView;
  return { job, attempt: { attempt: 2, claimedAt: 60 * MINUTE } as AttemptView, number: 2 };
}
