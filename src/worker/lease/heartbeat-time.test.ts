import { expect, test } from 'vitest';
import { heartbeatIntervalOf } from '../attempt/run-attempt.ts';

test.each([
  ['at the interval of the queue, up to half of the lease', 60_000, 30_000, 30_000],
  ['at the interval of the queue, however short', 60_000, 1_000, 1_000],
  ['at a quarter of a lease that is too short for it', 10_000, 15_000, 2_500],
])('A lease is renewed %s.', (_title, leaseMs, heartbeatMs, intervalMs) => {
  expect(heartbeatIntervalOf(leaseMs, heartbeatMs)).toBe(intervalMs);
});
