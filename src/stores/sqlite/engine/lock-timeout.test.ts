import { expect, test } from 'vitest';
import { LockPatience, MOST_PATIENCE_MS, MOST_STUCK_MS } from './lock-timeout.ts';

test('One who holds the lock and writes nothing is waited for a few seconds.', () => {
  const patience = new LockPatience(() => 0.5);
  expect(patience.refused(1_000, 7)).toEqual({ pauseMs: 1 });
  expect(patience.refused(999 + MOST_STUCK_MS, 7)).toEqual({ pauseMs: 11 });
  expect(patience.refused(1_000 + MOST_STUCK_MS, 7)).toEqual({ lockedMs: MOST_STUCK_MS });
});

test('As long as others write it is waited much longer, and not for ever.', () => {
  const patience = new LockPatience();
  for (let now = 0; now < MOST_PATIENCE_MS; now += 1_000) expect(patience.refused(now, now)).toHaveProperty('pauseMs');
  expect(patience.refused(MOST_PATIENCE_MS, 1)).toEqual({ lockedMs: MOST_PATIENCE_MS });
});

test('Who had the lock in between begins to wait anew.', () => {
  const patience = new LockPatience();
  patience.refused(0, 7);
  patience.end();
  expect(patience.refused(MOST_STUCK_MS, 7)).toEqual({ pauseMs: 1 });
});
