import { expect, it } from 'vitest';
import { createRestartDamper, DAMPED } from './restart-damper.ts';

it('does not wait the first time, then exponentially longer, up to a limit', () => {
  const damper = createRestartDamper();
  let now = 0;
  const waits = Array.from({ length: 14 }, () => {
    const waitMs = damper.died(now);
    now += waitMs + 10;
    return waitMs;
  });
  expect(waits.slice(0, 5)).toEqual([0, 100, 200, 400, 800]);
  expect(waits.at(-1)).toBe(DAMPED.longestMs);
  expect(damper.deaths).toBe(14);
});

it('forgets deaths after a long enough life, not counting the wait', () => {
  const damper = createRestartDamper();
  damper.died(0);
  expect(damper.died(10)).toBe(100);
  expect(damper.died(10 + 100 + DAMPED.forgottenAfterMs + 1)).toBe(0);
  expect(damper.deaths).toBe(1);
});
