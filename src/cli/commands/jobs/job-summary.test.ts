import { describe, expect, it } from 'vitest';
import type { JobView } from '../../../library/index.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { expectedEndText } from './job-summary.ts';

const startedAt = 1_000_000;
const running = (percent: number | null, at: number): JobView =>
  ({
    state: 'running',
    lease: { startedAt, claimedAt: startedAt },
    progress: { percent, text: null, at },
  }) as unknown as JobView;

describe('the expected end of a job', () => {
  it('is estimated from progress and elapsed time', () => {
    expect(expectedEnd(running(25, startedAt + 60_000))).toBe(startedAt + 240_000);
    expect(expectedEndText(running(25, startedAt + 60_000), startedAt + 60_000)).toMatch(/^in about 3 m, at /);
  });

  it('is unknown without progress, and "any moment" when it is overdue', () => {
    expect(expectedEndText(running(null, startedAt), startedAt)).toBe('unknown');
    expect(expectedEndText(running(0, startedAt), startedAt)).toBe('unknown');
    expect(expectedEndText(running(50, startedAt + 1_000), startedAt + 9_000)).toBe('any moment');
  });
});
