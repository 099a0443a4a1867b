import { expect, test } from 'vitest';
import { LockTimeout, MAX_STUCK_MS, MAX_WAIT_MS } from './lock-timeout.ts';

test('The wait for a process that holds the lock and writes nothing ends after a few seconds.', () => {
  const lockTimeout = new LockTimeout(() => 0.5);
  expect(lockTimeout.onBusy(1_000, 7)).toEqual({ pauseMs: 1 });
  expect(lockTimeout.onBusy(999 + MAX_STUCK_MS, 7)).toEqual({ pauseMs: 11 });
  expect(lockTimeout.onBusy(1_000 + MAX_STUCK_MS, 7)).toEqual({ lockedMs: MAX_STUCK_MS });
});

test('The wait is much longer while other processes write, but limited.', () => {
  const lockTimeout = new LockTimeout();
  for (let now = 0; now < MAX_WAIT_MS; now += 1_000) expect(lockTimeout.onBusy(now, now)).toHaveProperty('pauseMs');
  expect(lockTimeout.onBusy(MAX_WAIT_MS, 1)).toEqual({ lockedMs: MAX_WAIT_MS });
});

test('A wait starts over after the lock was acquired.', () => {
  const lockTimeout = new LockTimeout();
  lockTimeout.onBusy(0, 7);
  lockTimeout.reset();
  expect(lockTimeout.onBusy(MAX_STUCK_MS, 7)).toEqual({ pauseMs: 1 });
});
