import { describe, expect, it } from 'vitest';
import { MainWatch } from './event-loop-watch.ts';
import type { LeaseRenewerEvent } from './lease-renewer.ts';

function aWatch(maxBlockMs: number | null = null) {
  const news: LeaseRenewerEvent[] = [];
  const killedAt: number[] = [];
  let now = 0;
  const watch = new MainWatch({ maxBlockMs, tell: (each) => news.push(each), kill: () => killedAt.push(now) });
  const look = (rounds: number, at: number) => {
    now = at;
    return watch.look(rounds, at);
  };
  return { look, news, killedAt };
}

describe('the watch over the main thread', () => {
  it('sees that it comes round', () => {
    const { look, news } = aWatch();
    expect([look(1, 0), look(2, 900), look(3, 1_800)]).toEqual([0, 0, 0]);
    expect(news).toEqual([]);
  });

  it('counts for how long it is blocked, and tells when it no longer is', () => {
    const { look, news } = aWatch();
    look(1, 0);
    expect([look(1, 500), look(1, 1_000), look(1, 1_500)]).toEqual([0, 1_000, 1_500]);
    expect(news).toEqual([]);
    expect(look(2, 2_000)).toBe(0);
    expect(news).toEqual([{ kind: 'blocked', ms: 1_500 }]);
  });

  it('kills a process that is blocked for longer than it may', () => {
    const { look, killedAt } = aWatch(1_200);
    look(1, 0);
    for (let at = 100; at <= 1_500; at += 100) look(1, at);
    expect(killedAt[0]).toBe(1_200);
  });

  it('does not hold the time against it in which the whole process was frozen', () => {
    const { look, killedAt } = aWatch(5_000);
    look(1, 0);
    look(1, 3_600_000);
    expect(look(1, 3_600_100)).toBe(1_100);
    expect(killedAt).toEqual([]);
  });
});
