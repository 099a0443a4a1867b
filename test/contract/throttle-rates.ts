/** Rates and pauses of named throttles, shared between queues: by key, with costs. */
import { expect, test } from 'vitest';
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, retry, type Workbench } from './workbench.ts';

const setThrottle = async ({ records }: Workbench, name: string, value: object): Promise<void> => {
  await records.put({ kind: THROTTLE_RECORD, key: name, value: JSON.stringify(value) });
};
const job = (id: string, data: object = {}, more: object = {}) => ({
  id,
  data: JSON.stringify(data),
  policy: { throttles: ['api'] },
  ...more,
});
const pausing = (delayMs: number, throttle = 'api') => ({ ...retry(delayMs), throttle }) as ReturnType<typeof retry>;
const perSecond = (count: number) => ({ rate: { count, ms: 1_000 } });

export function throttleRateContract(open: Open): void {
  test('A throttle with a rate lets as many jobs start as its bucket holds, in all queues together, and refills evenly.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', perSecond(4));
    await bench.add(...['a', 'b', 'c'].map((id) => job(id)), { id: 'free' });
    await bench.add(...['d', 'e', 'f', 'g'].map((id) => job(id, {}, { queue: 'other' })));
    expect(await bench.claimIds()).toEqual(['a', 'b', 'c', 'free']);
    const { jobs, nextAt } = await bench.requestClaim({ queues: ['other'] });
    expect([jobs.map(({ id }) => id), nextAt]).toEqual([['d'], bench.now + 250]);
    bench.pass(249);
    expect(await bench.claimIds({ queues: ['other'] })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ queues: ['other'] })).toEqual(['e']);
    bench.pass(500);
    expect(await bench.claimIds({ queues: ['other'] })).toEqual(['f', 'g']);
  });

  test('Ended jobs do not return what they took from a bucket.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', perSecond(1));
    await bench.add(job('a'), job('b'));
    await bench.settle(await bench.claimOne(), complete);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('Each key has the whole rate; jobs without the key share one.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(1), by: ['model'] });
    await bench.add(
      job('a1', { model: 'a' }),
      job('a2', { model: 'a' }),
      job('b1', { model: 'b' }),
      job('none1'),
      job('none2', { model: null }),
      job('c', { model: 'a b' }),
    );
    expect(await bench.claimIds()).toEqual(['a1', 'b1', 'none1', 'c']);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['a2', 'none2']);
  });

  test('A job takes its cost from the bucket; without a positive number as cost it takes 1.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(10), cost: 'usage.tokens' });
    const costs = [6, 2.5, undefined, 0, -3, '9', 4];
    await bench.add(...costs.map((tokens, n) => job(`j${n}`, { usage: { tokens } })));
    // 6 + 2.5 + 1 of 10 are taken; the next one costs 1.
    expect(await bench.claimIds()).toEqual(['j0', 'j1', 'j2']);
    bench.pass(250);
    expect(await bench.claimIds()).toEqual(['j3', 'j4', 'j5']);
    bench.pass(399);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['j6']);
  });

  test('A cost above the rate counts as the whole bucket: the job starts when it is full.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(10), cost: 'n' });
    await bench.add(job('small', { n: 1 }), job('huge', { n: 1e9 }), job('last', { n: 1 }));
    expect(await bench.claimIds()).toEqual(['small']);
    bench.pass(100);
    expect(await bench.claimIds()).toEqual(['huge']);
    bench.pass(99);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['last']);
  });

  test('Cheaper jobs do not overtake one that waits until its cost fits, in any queue.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(10), cost: 'n' });
    await bench.add(job('a', { n: 5 }), job('large', { n: 8 }), job('b', { n: 1 }));
    await bench.add(job('other', { n: 1 }, { queue: 'other' }));
    expect(await bench.claimIds()).toEqual(['a']);
    expect(await bench.claimIds({ queues: ['other'] })).toEqual([]);
    bench.pass(299);
    expect(await bench.claimIds({ queues: ['other', 'q'] })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds()).toEqual(['large']);
  });

  test('Jobs that wait for a bucket start in claim order when it opens, and no more than fit.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', perSecond(2));
    await bench.add(...['a', 'b', 'c', 'd', 'e'].map((id) => job(id)), { ...job('late'), priority: 1 });
    expect(await bench.claimIds()).toEqual(['a', 'b']);
    await bench.add({ ...job('first'), priority: -1 });
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1_000);
    expect(await bench.claimIds({ limit: 1 })).toEqual(['first']);
    expect(await bench.claimIds()).toEqual(['c']);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['d', 'e']);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['late']);
  });

  test('A throttle with a maximum and a rate keeps both.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { max: 1, ...perSecond(2) });
    await bench.add(...['a', 'b', 'c', 'd'].map((id) => job(id)));
    const a = await bench.claimOne();
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(a, complete);
    const b = await bench.claimOne();
    await bench.settle(b, complete);
    const c = await bench.claimOne();
    await bench.settle(c, complete);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(500);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  test('A job takes from all of its buckets or from none.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', perSecond(1));
    await setThrottle(bench, 'slow', { rate: { count: 1, ms: 10_000 } });
    const both = (id: string) => ({ ...job(id), policy: { throttles: ['slow', 'api'] } });
    await bench.add(both('a'), both('b'));
    expect(await bench.claimIds()).toEqual(['a']);
    bench.pass(1_000);
    await bench.add(job('c'), job('d'));
    expect(await bench.claimIds()).toEqual(['c']);
    bench.pass(9_000);
    expect(await bench.claimIds()).toEqual(['b']);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  test('A job that must wait for a slot after its bucket opened is not followed by jobs that came later in claim order.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', perSecond(1));
    await setThrottle(bench, 'db', { max: 1 });
    const of = (id: string, ...throttles: string[]) => ({ ...job(id), policy: { throttles } });
    await bench.add(of('first', 'api'), of('a', 'api', 'db'), of('b', 'api'));
    expect(await bench.claimIds()).toEqual(['first']);
    await bench.add(of('holder', 'db'));
    expect(await bench.claimIds()).toEqual(['holder']);
    await bench.add({ id: 'last', priority: 1 });
    bench.pass(1_000);
    expect(await bench.claimIds({ limit: 1 })).toEqual(['b']);
    expect(await bench.claimIds({ limit: 1 })).toEqual(['last']);
  });

  test('A retry that names a throttle pauses it for all queues, and its job too.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { max: 5 });
    await bench.add({ ...job('a'), policy: { throttles: ['api'], retries: 3 } }, job('b', {}, { queue: 'other' }));
    const a = await bench.claimOne({ leaseMs: 10 * LEASE_MS });
    await bench.settle(a, pausing(30_000));
    await bench.add({ id: 'free' });
    const answer = await bench.requestClaim({ queues: ['other', 'q'], leaseMs: 10 * LEASE_MS });
    expect([answer.jobs.map(({ id }) => id), answer.nextAt]).toEqual([['free'], bench.now + 30_000]);
    bench.pass(29_999);
    expect(await bench.claimIds({ queues: ['other', 'q'] })).toEqual([]);
    bench.pass(1);
    expect(await bench.claimIds({ queues: ['other', 'q'] })).toEqual(['b', 'a']);
  });

  test('A pause takes effect when the job has no retry left, and on a throttle without limits.', async () => {
    const bench = await open();
    await bench.add({ ...job('a'), policy: { throttles: ['api'], retries: 0 } }, job('b'));
    const a = await bench.claimOne();
    await bench.settle(a, pausing(1_000));
    expect(await bench.states('a')).toEqual(['failed']);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('A pause of a throttle by key applies to the key of the job, and a shorter pause does not end a longer one.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(10), by: ['model'] });
    const two = ['x1', 'x2'].map((id) => ({ ...job(id, { model: 'x' }), policy: { throttles: ['api'], retries: 3 } }));
    await bench.add(...two);
    const [x1, x2] = await bench.claim();
    await bench.settle(x1 as never, pausing(5_000));
    await bench.settle(x2 as never, pausing(1_000));
    await bench.add(job('x3', { model: 'x' }), job('y', { model: 'y' }));
    expect(await bench.claimIds()).toEqual(['y']);
    bench.pass(4_999);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(1);
    expect(new Set(await bench.claimIds())).toEqual(new Set(['x1', 'x2', 'x3']));
  });

  test('A late settlement pauses nothing.', async () => {
    const bench = await open();
    await bench.add({ ...job('a'), policy: { throttles: ['api'], retries: 3 } }, job('b'));
    const a = await bench.claimOne();
    await bench.settle(a, fail());
    await bench.settle(a, pausing(1_000));
    expect(new Set(await bench.claimIds())).toEqual(new Set(['a', 'b']));
  });

  test('A change of a throttle fills its buckets and ends its pause; jobs that waited start at once.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { rate: { count: 1, ms: 3_600_000 } });
    await bench.add(...['a', 'b', 'c', 'd'].map((id) => job(id)));
    expect(await bench.claimIds()).toEqual(['a']);
    const log = await bench.listen();
    await setThrottle(bench, 'api', perSecond(2));
    await log.until((events) => events.some(({ type, queue }) => type === 'freed' && queue === 'q'));
    expect(await bench.claimIds()).toEqual(['b', 'c']);
    await bench.records.delete(THROTTLE_RECORD, 'api');
    expect(await bench.claimIds()).toEqual(['d']);
  });

  test('The wait reason and the list of throttles say when the next job may start.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(1), by: ['model'] });
    await setThrottle(bench, 'all', perSecond(2));
    await bench.add(job('a', { model: 'm' }), job('b', { model: 'm' }), {
      ...job('c'),
      policy: { throttles: ['all'], retries: 1 },
    });
    await bench.claim();
    await bench.settle((await bench.job('a')) as never, complete);
    await bench.settle((await bench.job('c')) as never, pausing(700, 'all'));
    bench.pass(700);
    await bench.claim();
    const until = bench.now + 300;
    expect(await bench.jobs.insight({ kind: 'brakes', ids: ['b', 'c'] })).toEqual([
      { by: 'rate', until, throttle: 'api', key: 'm' },
      null,
    ]);
    await bench.settle((await bench.job('c')) as never, pausing(5_000, 'all'));
    await bench.add({ ...job('d'), policy: { throttles: ['all'] } });
    expect(await bench.jobs.insight({ kind: 'brakes', ids: ['d'] })).toEqual([
      { by: 'rate', until: bench.now + 5_000, throttle: 'all' },
    ]);
    expect(await bench.jobs.insight({ kind: 'throttles' })).toEqual([
      { address: 't:all', max: null, held: 0, waiting: 0, nextStartAt: bench.now + 5_000, holders: [] },
      { address: 't:api m', max: null, held: 0, waiting: 1, nextStartAt: until, holders: [] },
    ]);
  });

  test('Buckets that are full again are deleted by maintenance, and others are not.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(1), by: ['model'] });
    await bench.add(job('a', { model: 'a' }), job('b', { model: 'b' }), job('b2', { model: 'b' }));
    await bench.claim({ limit: 1 });
    bench.pass(900);
    await bench.claim({ limit: 1 });
    bench.pass(100);
    await bench.jobs.maintain({ limit: 100 });
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(900);
    expect(await bench.claimIds()).toEqual(['b2']);
  });

  test('More keys than one claim checks are all served in time.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', { ...perSecond(1), by: ['n'] });
    const keys = Array.from({ length: 300 }, (_, n) => n);
    await bench.add(...keys.map((n) => job(`a${n}`, { n })), ...keys.map((n) => job(`b${n}`, { n })));
    expect((await bench.claim({ limit: 1_000 })).length).toBe(300);
    bench.pass(1_000);
    let found = 0;
    for (let round = 0; round < 4 && found < 300; round += 1) {
      const { jobs, now, nextAt } = await bench.requestClaim({ limit: 1_000 });
      found += jobs.length;
      if (found < 300) expect(nextAt).toBe(now + 1);
    }
    expect(found).toBe(300);
  });

  test('A claim of a queue that is at its own limit does not report a bucket that is open.', async () => {
    const bench = await open();
    await setThrottle(bench, 'api', perSecond(1));
    await bench.setQueue('q', { maxRunning: 1 });
    await bench.add(job('a'), job('b'));
    const a = await bench.claimOne({ leaseMs: 10 * LEASE_MS });
    await bench.settle(a, complete);
    expect(await bench.claimIds()).toEqual([]);
    await bench.add({ id: 'free' });
    await bench.claimOne({ leaseMs: 10 * LEASE_MS });
    bench.pass(2_000);
    const { jobs, nextAt, now } = await bench.requestClaim();
    expect(jobs).toEqual([]);
    expect(nextAt).toBeGreaterThan(now + 1_000);
  });

  test('A clock that is set back does not close a bucket for longer than before.', async () => {
    const bench = await open('guarded');
    await setThrottle(bench, 'api', perSecond(1));
    await bench.add(
      { ...job('a'), policy: { throttles: ['api'], retries: 3 } },
      job('b'),
      job('p', {}, { queue: 'other' }),
    );
    const a = await bench.claimOne();
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(a, pausing(5_000));
    bench.pass(-3_600_000);
    expect(await bench.claimIds()).toEqual([]);
    bench.pass(5_000);
    expect(await bench.claimIds({ limit: 1 })).toEqual(['b']);
    bench.pass(1_000);
    expect(await bench.claimIds({ limit: 1, queues: ['other', 'q'] })).toEqual(['p']);
  });
}
