import { describe, expect, it } from 'vitest';
import type { JobView } from '../../../library/index.ts';
import { expectedEnd } from '../../../wire/expected-end.ts';
import { expectedEndWords } from './job-summary.ts';

const begun = 1_000_000;
const running = (percent: number | null, at: number): JobView =>
  ({
    state: 'running',
    lease: { startedAt: begun, claimedAt: begun },
    progress: { percent, text: null, at },
  }) as unknown as JobView;

describe('when a job is expected to end', () => {
  it('is worked out from how far it came in which time', () => {
    expect(expectedEnd(running(25, begun + 60_000))).toBe(begun + 240_000);
    expect(expectedEndWords(running(25, begun + 60_000), begun + 60_000)).toMatch(/^in about 3 m, at /);
  });

  it('is not known without progress, and any moment when it is late', () => {
    expect(expectedEndWords(running(null, begun), begun)).toBe('not known');
    expect(expectedEndWords(running(0, begun), begun)).toBe('not known');
    expect(expectedEndWords(running(50, begun + 1_000), begun + 9_000)).toBe('any moment');
  });
});
