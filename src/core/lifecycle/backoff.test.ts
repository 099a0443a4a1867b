import { expect, test } from 'vitest';
import { backoffMs, crashDelayMs, DEFAULT_BACKOFF } from './backoff.ts';

test('An exponential delay doubles up to its maximum, whatever the number of failures.', () => {
  const rule = { ...DEFAULT_BACKOFF, jitter: 0 };
  expect([1, 2, 3, 9, 10, 1_000_000].map((failures) => backoffMs(rule, failures, 0))).toEqual([
    10_000, 20_000, 40_000, 2_560_000, 3_600_000, 3_600_000,
  ]);
});

test('A fixed delay is constant, and a list repeats its last delay.', () => {
  expect(backoffMs({ ...DEFAULT_BACKOFF, kind: 'fixed', jitter: 0, delayMs: 5 }, 7, 0)).toBe(5);
  const list = { ...DEFAULT_BACKOFF, kind: 'list', jitter: 0, delaysMs: [1, 10, 100] } as const;
  expect([1, 2, 3, 4].map((failures) => backoffMs(list, failures, 0))).toEqual([1, 10, 100, 100]);
});

test('Jitter only shortens a delay, by at most its share.', () => {
  const rule = { ...DEFAULT_BACKOFF, kind: 'fixed', delayMs: 1_000, jitter: 0.5 } as const;
  expect([0, 0.5, 0.999].map((random) => backoffMs(rule, 1, random))).toEqual([1_000, 750, 500]);
});

test('The first crash adds no delay, the second ten seconds, and the maximum is an hour.', () => {
  expect([1, 2, 3, 4, 50].map(crashDelayMs)).toEqual([0, 10_000, 20_000, 40_000, 3_600_000]);
});
