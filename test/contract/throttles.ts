/** Limits on jobs that run together: named throttles, and how jobs wait for a slot. */
import { expect, test } from 'vitest';
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, release, retry, type Workbench } from './workbench.ts';

export const setMax = async ({ records }: Workbench, name: string, max: number): Promise<void> => {
  await records.put({ kind: THROTTLE_RECORD, key: name, value: JSON.stringify({ max }) });
};
const withThrottles = (id: string, ...throttles: readonly string[]) => ({ id, policy: { throttles } });

export function throttleContract(open: Open): void {
  test('As many jobs of a throttle run as it has slots, in claim order, and other jobs are not affected.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 2);
    await bench.add(...['a', 'b', 'c', 'd'].map((id) => withThrottles(id, 'db')), { id: 'free' });
    const running = await bench.claim();
    expect(running.map(({ id, slots }) => [id, slots])).toEqual([
      ['a', ['t:db']],
      ['b', ['t:db']],
      ['free', []],
    ]);
    await bench.settle(running[1] as never, complete);
    expect(await bench.claimIds()).toEqual(['c']);
    expect((await bench.job('b')).slots).toEqual([]);
  });

  test('A parked job is listed with its queue, its state and its label.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(withThrottles('a', 'db'), withThrottles('b', 'db'));
    expect(await bench.claimIds()).toEqual(['a']);
    const questions = [{}, { queue: 'q' }, { state: 'waiting' }, { queue: 'q', label: 'throttled' }] as const;
    for (const question of questions) {
      const page = await bench.jobs.list({ ...question, order: 'newest', limit: 10 });
      expect(page.jobs.map(({ id }) => id)).toContain('b');
    }
  });

  test('A job takes a slot of each of its throttles, or of none.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await setMax(bench, 'gpu', 1);
    const holder = await bench.running(withThrottles('holder', 'gpu'));
    await bench.add(withThrottles('both', 'db', 'gpu'), withThrottles('one', 'db'));
    expect(await bench.claimIds()).toEqual(['one']);
    await bench.settle(holder, complete);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle((await bench.job('one')) as never, complete);
    expect(await bench.claimIds()).toEqual(['both']);
  });

  test('A slot that becomes free in a later queue of a claim unparks a job of an earlier one.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ ...withThrottles('holder', 'db'), queue: 'late' });
    await bench.claimOne({ queues: ['late'] });
    await bench.jobs.cancel([{ id: 'holder' }]);
    await bench.add(withThrottles('waits', 'db'));
    bench.pass(LEASE_MS);
    expect(await bench.claimIds({ queues: ['q', 'late'] })).toEqual([]);
    expect(await bench.states('holder')).toEqual(['cancelled']);
    expect(await bench.claimIds({ queues: ['q', 'late'] })).toEqual(['waits']);
  });

  test('A throttle without a maximum blocks no job; one that is set later counts running jobs.', async () => {
    const bench = await open();
    await bench.add(...['a', 'b', 'c'].map((id) => withThrottles(id, 'db')));
    expect(await bench.claimIds({ limit: 2 })).toEqual(['a', 'b']);
    await setMax(bench, 'db', 2);
    expect(await bench.claimIds()).toEqual([]);
  });

  test('A raised maximum releases the next jobs at once; a lowered one lets running jobs finish.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(...['a', 'b', 'c', 'd', 'e'].map((id) => withThrottles(id, 'db')));
    expect(await bench.claimIds()).toEqual(['a']);
    await setMax(bench, 'db', 3);
    const [b, c] = await bench.claim();
    expect([b?.id, c?.id]).toEqual(['b', 'c']);
    await setMax(bench, 'db', 1);
    await bench.settle(b as never, complete);
    await bench.settle(c as never, complete);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle((await bench.job('a')) as never, complete);
    expect(await bench.claimIds()).toEqual(['d']);
    await bench.records.delete(THROTTLE_RECORD, 'db');
    expect(await bench.claimIds()).toEqual(['e']);
  });

  test.each([
    ['completes', complete],
    ['is released', release],
    ['fails and is retried later', retry(1_000)],
  ])('Its slot goes to the next job when a job %s.', async (_how, outcome) => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ id: 'a', policy: { throttles: ['db'], retries: 5 } }, withThrottles('b', 'db'));
    const [a] = await bench.claim();
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(a as never, outcome);
    expect(await bench.claimIds({ limit: 1 })).toEqual([outcome === release ? 'a' : 'b']);
    expect(await bench.claimIds()).toEqual([]);
  });

  test('The slot of a lost job is freed with its lease, by whatever call.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ ...withThrottles('a', 'db'), queue: 'other' }, withThrottles('b', 'db'));
    await bench.claimOne({ queues: ['other'] });
    expect(await bench.claimIds()).toEqual([]);
    await bench.loseLeases();
    expect(await bench.claimIds()).toEqual(['b']);
    expect((await bench.job('a')).slots).toEqual([]);
  });

  test('Failing a worker, stealing and cancelling free slots as well.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(...['a', 'b', 'c', 'd'].map((id) => withThrottles(id, 'db')));
    await bench.claimOne({ worker: 'v' });
    expect(await bench.claimIds()).toEqual([]);
    await bench.jobs.endWorker({ id: 'v', kind: 'fail' });
    await bench.jobs.cancel([{ id: 'a' }]);
    expect(await bench.claimIds()).toEqual(['b']);
    await bench.jobs.move([{ id: 'b', queue: 'elsewhere', steal: true }]);
    const [c] = await bench.claim();
    expect(c?.id).toBe('c');
    await bench.jobs.cancel([{ id: 'c' }]);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(c as never, release);
    expect(await bench.states('c')).toEqual(['cancelled']);
    expect(await bench.claimIds()).toEqual(['d']);
  });

  test.each<[string, (bench: Workbench) => Promise<unknown>]>([
    ['cancelled', ({ jobs }) => jobs.cancel([{ id: 'b' }])],
    ['deleted', ({ jobs }) => jobs.delete(['b'])],
    ['moved', ({ jobs }) => jobs.move([{ id: 'b', queue: 'elsewhere' }])],
    ['postponed', (bench) => bench.jobs.change([{ id: 'b', runAt: bench.now + 1_000 }])],
    ['given a later priority', ({ jobs }) => jobs.change([{ id: 'b', priority: 9 }])],
  ])('When the next job is %s, the job behind it gets its slot.', async (_how, act) => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(...['a', 'b', 'c'].map((id) => withThrottles(id, 'db')));
    const [a] = await bench.claim();
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(a as never, complete);
    await act(bench);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  test('A job that waits for two throttles does not block a job that waits for one of them.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await setMax(bench, 'gpu', 1);
    await bench.add(withThrottles('dbs', 'db'), withThrottles('gpus', 'gpu'));
    const [dbs] = await bench.claim();
    await bench.add(withThrottles('both', 'db', 'gpu'), withThrottles('one', 'db'), withThrottles('two', 'db'));
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(dbs as never, complete);
    expect(await bench.claimIds()).toEqual(['one']);
    await bench.settle((await bench.job('one')) as never, complete);
    await bench.settle((await bench.job('gpus')) as never, complete);
    expect(await bench.claimIds()).toEqual(['both']);
  });

  test('A freed slot emits an event in every queue that waits for it.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ ...withThrottles('a', 'db'), queue: 'other' }, withThrottles('b', 'db'));
    const a = await bench.claimOne({ queues: ['other'] });
    await bench.claim();
    const log = await bench.listen();
    await bench.settle(a, complete);
    await log.until((events) => events.some(({ type, queue, id }) => type === 'freed' && queue === 'q' && id === ''));
  });

  test('Jobs of a paused queue do not keep other queues from a slot.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(withThrottles('holder', 'db'));
    const holder = await bench.claimOne();
    await bench.add({ ...withThrottles('a', 'db'), queue: 'asleep' }, withThrottles('b', 'db'));
    expect(await bench.claimIds({ queues: ['asleep', 'q'] })).toEqual([]);
    await bench.setQueue('asleep', { state: 'paused' });
    await bench.settle(holder, complete);
    expect(await bench.claimIds({ queues: ['asleep', 'q'] })).toEqual(['b']);
  });

  test('A throttled job has its label, appears in a peek, and is counted as waiting.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(withThrottles('a', 'db'), withThrottles('b', 'db'), { id: 'c' }, withThrottles('d', 'db'));
    expect(await bench.claimIds({ limit: 1 })).toEqual(['a']);
    const found = async (label: 'throttled' | 'ready') =>
      (await bench.jobs.list({ label, order: 'newest', limit: 10 })).jobs.map(({ id }) => id);
    expect([await found('throttled'), await found('ready')]).toEqual([['d', 'b'], ['c']]);
    expect(await bench.claimIds()).toEqual(['c']);
    expect([await found('throttled'), await found('ready')]).toEqual([['d', 'b'], []]);
    const peeked = await bench.jobs.list({ queue: 'q', order: 'claim', limit: 10 });
    expect(peeked.jobs.map(({ id }) => id)).toEqual(['b', 'd']);
    expect((await bench.jobs.count(['q']))[0]).toMatchObject({ waiting: 2, running: 2, scheduled: 0 });
  });

  test("The queue's throttles apply to jobs without their own, and a change takes effect at once.", async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await setMax(bench, 'gpu', 1);
    await bench.setQueue('q', { throttles: ['db'] });
    await bench.add({ id: 'a' }, { id: 'b' }, withThrottles('c', 'gpu'), withThrottles('d'));
    expect(await bench.claimIds()).toEqual(['a', 'c', 'd']);
    await bench.setQueue('q', { throttles: [] });
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('Throttles are listed with their maximum, the holders of slots and the number of waiting jobs, keys included.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.setQueue('keyed', { keys: { by: [], limit: 1 } });
    await bench.add(...['a', 'b', 'c'].map((id) => withThrottles(id, 'db')), withThrottles('d', 'free'));
    await bench.add(
      { id: 'k1', queue: 'keyed', policy: { key: 'x' } },
      { id: 'k2', queue: 'keyed', policy: { key: 'x' } },
    );
    await bench.claim({ queues: ['q', 'keyed'] });
    expect(await bench.jobs.insight({ kind: 'throttles' })).toEqual([
      { address: 'k:keyed:x', max: 1, held: 1, waiting: 1, nextStartAt: null, holders: ['k1'] },
      { address: 't:db', max: 1, held: 1, waiting: 2, nextStartAt: null, holders: ['a'] },
      { address: 't:free', max: null, held: 1, waiting: 0, nextStartAt: null, holders: ['d'] },
    ]);
    await bench.settle((await bench.job('a')) as never, complete);
    await bench.settle((await bench.job('d')) as never, complete);
    await bench.settle((await bench.job('k1')) as never, complete);
    expect(await bench.jobs.insight({ kind: 'throttles' })).toEqual([]);
  });

  test('The wait reason is reported if only a limit holds a job back.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.setQueue('full', { maxRunning: 1 });
    await bench.setQueue('slow', { rate: { count: 1, ms: 1_000 } });
    await bench.add(
      withThrottles('a', 'db'),
      withThrottles('b', 'db'),
      { ...withThrottles('c', 'db'), delayMs: 9 },
      { id: 'd' },
    );
    await bench.add(...['full', 'slow'].flatMap((queue) => ['1', '2'].map((n) => ({ id: `${queue}${n}`, queue }))));
    await bench.claim({ limit: 1 });
    await bench.claim({ queues: ['full', 'slow'] });
    const ids = ['a', 'b', 'c', 'd', 'full2', 'slow2', 'nobody'];
    expect(await bench.jobs.insight({ kind: 'brakes', ids })).toEqual([
      null,
      { by: 'throttle', address: 't:db', held: 1, max: 1 },
      null,
      null,
      { by: 'queue', held: 1, max: 1 },
      { by: 'rate', until: bench.now + 1_000 },
      null,
    ]);
  });

  test('A parked job is not forgotten when the clock goes back.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(withThrottles('holder', 'db'));
    const holder = await bench.claimOne({ leaseMs: 10 * LEASE_MS });
    await bench.add({ ...withThrottles('late', 'db'), priority: -1, delayMs: 1_000 }, withThrottles('early', 'db'));
    bench.pass(1_000);
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(holder, complete);
    bench.pass(-1_000);
    expect(await bench.claimIds()).toEqual(['early']);
  });

  test('If more jobs wait for a slot than one claim scans, the claim reports that there is more to do at once.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    const many = Array.from({ length: 1_100 }, (_, n) => withThrottles(`j${n}`, 'db'));
    await bench.jobs.add(many.map((job) => ({ queue: 'q', data: '{}', ...job })));
    await bench.add({ id: 'free' });
    expect(await bench.claimIds({ limit: 1 })).toEqual(['j0']);
    const answers = [
      await bench.requestClaim({ limit: 1 }),
      await bench.requestClaim({ limit: 1 }),
      await bench.requestClaim({ limit: 1 }),
    ];
    expect(answers.map(({ jobs, now, nextAt }) => [jobs.length, nextAt === now + 1])).toEqual([
      [0, true],
      [0, true],
      [1, false],
    ]);
  });
}
