/** Claim order: returned work, then priority, run time and insertion; queues in the given order. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { fail, LEASE_MS, release, START } from './workbench.ts';

export function claimOrderContract(open: Open): void {
  it('serves equal jobs in the order of insertion', async () => {
    const bench = await open();
    await bench.add({ id: 'c' }, { id: 'a' });
    await bench.add({ id: 'b' });
    expect(await bench.claimIds()).toEqual(['c', 'a', 'b']);
  });

  it('serves the lower priority number first', async () => {
    const bench = await open();
    const priorities = [0, 5, -1, 1_000_000, -1_000_000, 3];
    await bench.add(...priorities.map((priority) => ({ id: String(priority), priority })));
    expect(await bench.claimIds()).toEqual(['-1000000', '-1', '0', '3', '5', '1000000']);
  });

  it('serves the earlier run time first among equal priorities, even far in the past', async () => {
    const bench = await open();
    await bench.add(
      { id: 'now' },
      { id: 'zero', runAt: 0 },
      { id: 'earlier', runAt: START - 1 },
      { id: 'urgent', priority: -1 },
      { id: 'one', runAt: 1 },
    );
    expect(await bench.claimIds()).toEqual(['urgent', 'zero', 'one', 'earlier', 'now']);
  });

  it('starts no job before its run time, and every job at it', async () => {
    const bench = await open();
    await bench.add({ id: 'a', delayMs: 1 }, { id: 'b' }, { id: 'c', runAt: START + 2, priority: -9 });
    expect(await bench.claimIds()).toEqual(['b']);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['a']);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  it('orders a job whose run time has come by its priority', async () => {
    const bench = await open();
    await bench.add({ id: 'low', priority: 5 }, { id: 'later', priority: 1, delayMs: 10 }, { id: 'mid', priority: 3 });
    bench.pass(10);
    await bench.add({ id: 'same', priority: 1 }, { id: 'first', priority: 0 });
    expect(await bench.claimIds()).toEqual(['first', 'later', 'same', 'mid', 'low']);
  });

  it('serves returned work before all other jobs, longest returned first', async () => {
    const bench = await open();
    await bench.add({ id: 'a', priority: 9 }, { id: 'b' }, { id: 'c' });
    const [b, c, a] = await bench.claim();
    await bench.settle(a!, release);
    bench.pass(1);
    await bench.settle(c!, release);
    bench.pass(1);
    await bench.settle(b!, release);
    await bench.add({ id: 'urgent', priority: -100, runAt: 0 });
    expect(await bench.claimIds()).toEqual(['a', 'c', 'b', 'urgent']);
  });

  it('serves work that was returned at the same time in the order of insertion', async () => {
    const bench = await open();
    await bench.add({ id: 'a', priority: 3 }, { id: 'b', priority: 2 }, { id: 'c', priority: 1 });
    for (const job of await bench.claim()) await bench.settle(job, release);
    expect(await bench.claimIds()).toEqual(['a', 'b', 'c']);
  });

  it('orders expired leases by their end, together with released jobs', async () => {
    const bench = await open();
    await bench.add({ id: 'long' }, { id: 'short' }, { id: 'released' }, { id: 'fresh', delayMs: 10 * LEASE_MS });
    await bench.claimOne({ leaseMs: 5_000 });
    await bench.claimOne({ leaseMs: 1_000 });
    const job = await bench.claimOne();
    bench.pass(3_000);
    await bench.settle(job, release);
    bench.pass(2_000);
    expect(await bench.claimIds()).toEqual(['short', 'released', 'long']);
  });

  it('claims returned work once, then continues in order', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    await bench.settle(await bench.claimOne(), release);
    expect(await bench.claimIds({ limit: 1 })).toEqual(['a']);
    expect(await bench.claimIds({ limit: 1 })).toEqual(['b']);
    expect(await bench.claimIds({ limit: 1 })).toEqual([]);
  });

  it('orders a failed attempt by priority and run time, not at the front', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 9 });
    await bench.add({ id: 'a' }, { id: 'b' });
    const a = await bench.claimOne();
    await bench.settle(a, fail({ delayMs: 5 }));
    bench.pass(5);
    await bench.add({ id: 'c' });
    expect(await bench.claimIds()).toEqual(['b', 'a', 'c']);
  });

  it('takes all jobs of the first queue before it reads the second', async () => {
    const bench = await open();
    await bench.add({ id: 'x1', queue: 'x', priority: -9 }, { id: 'y1', queue: 'y' }, { id: 'y2', queue: 'y' });
    await bench.add({ id: 'x2', queue: 'x' }, { id: 'z1', queue: 'z', priority: -99 });
    expect(await bench.claimIds({ queues: ['y', 'x', 'z'], limit: 3 })).toEqual(['y1', 'y2', 'x1']);
    expect(await bench.claimIds({ queues: ['y', 'x', 'z'], limit: 3 })).toEqual(['x2', 'z1']);
  });

  it('reads only the given queue', async () => {
    const bench = await open();
    await bench.add({ id: 'a', queue: 'other' });
    expect(await bench.claimIds({ queues: ['q', 'never-seen'] })).toEqual([]);
    expect(await bench.states('a')).toEqual(['waiting']);
  });

  it('respects its limit, including a limit of 0', async () => {
    const bench = await open();
    await bench.add(...[1, 2, 3, 4, 5].map((id) => ({ id: String(id) })));
    expect(await bench.claimIds({ limit: 0 })).toEqual([]);
    expect(await bench.claimIds({ limit: 2 })).toEqual(['1', '2']);
    expect(await bench.claimIds({ limit: 100 })).toEqual(['3', '4', '5']);
  });

  it('shows in a peek what would be claimed, in that order, and starts nothing', async () => {
    const bench = await open();
    await bench.add(
      { id: 'a', priority: 4 },
      { id: 'b', priority: 2 },
      { id: 'c', delayMs: 9 },
      { id: 'd', priority: 3 },
    );
    await bench.settle(await bench.claimOne({ limit: 1 }), release);
    await bench.add({ id: 'e', draft: true }, { id: 'f', priority: 1 });
    const peek = (after?: string) =>
      bench.jobs.list({ queue: 'q', order: 'claim', limit: 2, ...(after === undefined ? {} : { after }) });
    const first = await peek();
    const second = await peek(first.next ?? '');
    const ids = [...first.jobs, ...second.jobs].map(({ id }) => id);
    expect(ids).toEqual(['b', 'f', 'd', 'a']);
    expect(await bench.claimIds()).toEqual(ids);
    expect((await peek()).jobs).toEqual([]);
  });
}
