import { describe, expect, it } from 'vitest';
import { EventLoopWatch } from './event-loop-watch.ts';
import type { LeaseRenewerEvent } from './lease-renewer.ts';

function aWatch(maxBlockMs: number | null = null) {
  const events: LeaseRenewerEvent[] = [];
  const killedAt: number[] = [];
  let now = 0;
  const watch = new EventLoopWatch({ maxBlockMs, emit: (each) => events.push(each), kill: () => killedAt.push(now) });
  const check = (turns: number, at: number) => {
    now = at;
    return watch.check(turns, at);
  };
  return { check, events, killedAt };
}

describe('the event loop watch', () => {
  it('sees that the event loop turns', () => {
    const { check, events } = aWatch();
    expect([check(1, 0), check(2, 900), check(3, 1_800)]).toEqual([0, 0, 0]);
    expect(events).toEqual([]);
  });

  it('counts for how long the loop is blocked, and emits an event when it no longer is', () => {
    const { check, events } = aWatch();
    check(1, 0);
    expect([check(1, 500), check(1, 1_000), check(1, 1_500)]).toEqual([0, 1_000, 1_500]);
    expect(events).toEqual([]);
    expect(check(2, 2_000)).toBe(0);
    expect(events).toEqual([{ kind: 'blocked', ms: 1_500 }]);
  });

  it('kills a process that is blocked for longer than allowed', () => {
    const { check, killedAt } = aWatch(1_200);
    check(1, 0);
    for (let at = 100; at <= 1_500; at += 100) check(1, at);
    expect(killedAt[0]).toBe(1_200);
  });

  it('does not count the time in which the whole process was frozen', () => {
    const { check, killedAt } = aWatch(5_000);
    check(1, 0);
    check(1, 3_600_000);
    expect(check(1, 3_600_100)).toBe(1_100);
    expect(killedAt).toEqual([]);
  });
});
