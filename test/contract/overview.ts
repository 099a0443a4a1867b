/** Counts of queues, failure groups and tags: always equal to a count by hand. */
import { expect, it } from 'vitest';
import type { QueueCounts } from '../../src/core/ports/job-store.ts';
import { DAY_MS } from '../../src/core/statistics/histogram.ts';
import { dayOf, dayText } from '../../src/core/statistics/statistics.ts';
import type { Open } from './contract.ts';
import { complete, fail, release, START } from './workbench.ts';

const TODAY = dayText(dayOf(START));

const counts = (some: Partial<QueueCounts> = {}): QueueCounts => ({
  queue: 'q',
  draft: 0,
  waiting: 0,
  running: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
  blocked: 0,
  scheduled: 0,
  relayed: 0,
  ...some,
});

export function overviewContract(open: Open): void {
  it('count nothing for an unknown queue', async () => {
    const bench = await open();
    expect(await bench.jobs.count(['q'])).toEqual([counts()]);
    expect(await bench.jobs.count()).toEqual([]);
    expect(await bench.jobs.insight({ kind: 'failures' })).toEqual([]);
  });

  it('count every state through a life', async () => {
    const bench = await open();
    const count = async () => (await bench.jobs.count(['q']))[0];
    await bench.add({ id: 'a', draft: true }, { id: 'b', draft: true }, { id: 'c' }, { id: 'd', delayMs: 10 });
    expect(await count()).toEqual(counts({ draft: 2, waiting: 2, scheduled: 1 }));
    await bench.jobs.commit(['a']);
    const [a, c] = await bench.claim();
    expect(await count()).toEqual(counts({ draft: 1, waiting: 1, scheduled: 1, running: 2 }));
    await bench.settle(c!, complete);
    await bench.settle(a!, { kind: 'forward', address: 'x' });
    expect(await count()).toEqual(counts({ draft: 1, waiting: 1, scheduled: 1, done: 2, relayed: 1 }));
    bench.pass(10);
    expect(await count()).toEqual(counts({ draft: 1, waiting: 1, done: 2, relayed: 1 }));
    await bench.settle(await bench.claimOne(), fail());
    await bench.jobs.cancel([{ id: 'b' }]);
    expect(await count()).toEqual(counts({ done: 2, relayed: 1, failed: 1, cancelled: 1 }));
    await bench.jobs.requeue([{ id: 'a', delayMs: 5 }, { id: 'd' }]);
    expect(await count()).toEqual(counts({ done: 1, cancelled: 1, waiting: 2, scheduled: 1 }));
    await bench.jobs.delete(['a', 'b', 'c', 'd']);
    expect(await count()).toEqual(counts());
  });

  it('count by queue, in the order of the given queues', async () => {
    const bench = await open();
    await bench.add({ id: 'a', queue: 'b' }, { id: 'b', queue: 'a' }, { id: 'c', queue: 'b' });
    expect(await bench.jobs.count(['none', 'b', 'a'])).toEqual([
      counts({ queue: 'none' }),
      counts({ queue: 'b', waiting: 2 }),
      counts({ queue: 'a', waiting: 1 }),
    ]);
  });

  it('name every queue that has or had a job, sorted', async () => {
    const bench = await open();
    await bench.add({ id: 'a', queue: 'b' }, { id: 'b', queue: 'a' });
    await bench.jobs.move([{ id: 'a', queue: 'c' }]);
    await bench.jobs.delete(['b']);
    await bench.setQueue('only-settings', {});
    expect((await bench.jobs.count()).map(({ queue, waiting }) => [queue, waiting])).toEqual([
      ['a', 0],
      ['b', 0],
      ['c', 1],
    ]);
  });

  it('count moved, advanced and returned jobs in their present queue', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    await bench.settle(job, { kind: 'complete', next: { queue: 'second', delayMs: 7 } });
    const both = () => bench.jobs.count(['q', 'second']);
    expect(await both()).toEqual([counts(), counts({ queue: 'second', waiting: 1, scheduled: 1 })]);
    await bench.jobs.move([{ id: 'a', queue: 'q' }]);
    expect(await both()).toEqual([counts({ waiting: 1, scheduled: 1 }), counts({ queue: 'second' })]);
    bench.pass(7);
    await bench.settle(await bench.claimOne(), release);
    expect(await both()).toEqual([counts({ waiting: 1 }), counts({ queue: 'second' })]);
    await bench.jobs.change([{ id: 'a', runAt: bench.now + 1 }]);
    expect(await both()).toEqual([counts({ waiting: 1, scheduled: 1 }), counts({ queue: 'second' })]);
  });

  it('group failures, the largest group first, with the newest member as a sample', async () => {
    const bench = await open();
    const failWith = async (id: string, group: string, queue = 'q') => {
      const job = await bench.running({ id, queue });
      await bench.settle(job, fail({ failure: { group, message: id, detail: null } }));
      bench.pass(10);
    };
    await failWith('1', 'rare');
    await failWith('2', 'often');
    await failWith('3', 'often');
    await failWith('4', 'rare', 'p');
    await failWith('5', 'apart', 'q');
    const often = {
      queue: 'q',
      group: 'often',
      count: 2,
      firstAt: START + 10,
      lastAt: START + 20,
      sampleId: '3',
      trend: { firstAt: START + 10, lastAt: START + 20, days: [{ day: TODAY, failures: 2, retries: 0 }] },
    };
    const one = (queue: string, group: string, at: number, sampleId: string) => ({
      queue,
      group,
      count: 1,
      firstAt: START + at,
      lastAt: START + at,
      sampleId,
      trend: { firstAt: START + at, lastAt: START + at, days: [{ day: TODAY, failures: 1, retries: 0 }] },
    });
    const inQ = [often, one('q', 'apart', 40, '5'), one('q', 'rare', 0, '1')];
    expect(await bench.jobs.insight({ kind: 'failures', queue: 'q' })).toEqual(inQ);
    expect(await bench.jobs.insight({ kind: 'failures' })).toEqual([often, one('p', 'rare', 30, '4'), ...inQ.slice(1)]);
    expect(await bench.jobs.insight({ kind: 'failures', queue: 'none' })).toEqual([]);
  });

  it('keep a group by its days after its last job is deleted, as long as statistics are kept', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 1, statsDays: 3 });
    await bench.settle(await bench.running({ id: 'a' }), fail());
    bench.pass(DAY_MS);
    await bench.settle(await bench.claimOne(), fail());
    const trend = {
      firstAt: START,
      lastAt: START + DAY_MS,
      days: [
        { day: TODAY, failures: 0, retries: 1 },
        { day: dayText(dayOf(START) + 1), failures: 1, retries: 0 },
      ],
    };
    const ask = (past: boolean) => bench.jobs.insight({ kind: 'failures', past });
    expect(await ask(false)).toMatchObject([{ group: 'boom', count: 1, firstAt: START + DAY_MS, trend }]);
    await bench.jobs.delete(['a']);
    expect(await ask(false)).toEqual([]);
    const gone = { queue: 'q', group: 'boom', count: 0, firstAt: START, lastAt: START + DAY_MS, sampleId: null, trend };
    expect(await ask(true)).toEqual([gone]);
    bench.now = START + 4 * DAY_MS;
    expect(await ask(true)).toEqual([]);
  });

  it('count the jobs of each tag, the most frequent first', async () => {
    const bench = await open();
    const tags = (limit = 10) => bench.jobs.insight({ kind: 'tags', limit });
    expect(await tags()).toEqual([]);
    await bench.add({ id: 'a', tags: ['x', 'y'] }, { id: 'b', tags: ['y'] }, { id: 'c', tags: ['w'], queue: 'p' });
    expect(await tags()).toEqual([
      { tag: 'y', jobs: 2 },
      { tag: 'w', jobs: 1 },
      { tag: 'x', jobs: 1 },
    ]);
    await bench.settle(await bench.claimOne(), complete);
    await bench.jobs.change([{ id: 'b', tags: ['z'] }]);
    await bench.jobs.delete(['c']);
    expect(await tags()).toEqual([
      { tag: 'x', jobs: 1 },
      { tag: 'y', jobs: 1 },
      { tag: 'z', jobs: 1 },
    ]);
    expect(await tags(1)).toEqual([{ tag: 'x', jobs: 1 }]);
  });

  it('use the job that failed last as a sample, whenever it was added', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    const [a, b] = await bench.claim();
    await bench.settle(b!, fail());
    bench.pass(10);
    await bench.settle(a!, fail());
    expect(await bench.jobs.insight({ kind: 'failures', queue: 'q' })).toMatchObject([
      { count: 2, lastAt: START + 10, sampleId: 'a' },
    ]);
  });

  it('remove a job from its group when it is requeued or deleted', async () => {
    const bench = await open();
    for (const id of ['a', 'b', 'c']) {
      await bench.settle(await bench.running({ id }), fail());
      bench.pass(1);
    }
    await bench.jobs.requeue([{ id: 'a' }]);
    expect(await bench.jobs.insight({ kind: 'failures', queue: 'q' })).toMatchObject([
      { count: 2, firstAt: START + 1, sampleId: 'c' },
    ]);
    await bench.jobs.delete(['c']);
    expect(await bench.jobs.insight({ kind: 'failures', queue: 'q' })).toMatchObject([
      { count: 1, lastAt: START + 1, sampleId: 'b' },
    ]);
    await bench.jobs.requeue([{ id: 'b' }]);
    expect(await bench.jobs.insight({ kind: 'failures', queue: 'q' })).toEqual([]);
  });
}
