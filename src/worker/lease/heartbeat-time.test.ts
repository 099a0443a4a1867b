import { expect, test } from 'vitest';
import { beatOf } from '../attempt/attempts.ts';

test.each([
  ['as the queue has it, up to half of the lease', 60_000, 30_000, 30_000],
  ['as the queue has it, however often', 60_000, 1_000, 1_000],
  ['a quarter of a lease that is too short for it', 10_000, 15_000, 2_500],
])('A lease is renewed %s.', (_title, leaseMs, heartbeatMs, beatMs) => {
  expect(beatOf(leaseMs, heartbeatMs)).toBe(beatMs);
});
