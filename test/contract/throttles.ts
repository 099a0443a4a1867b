/** Limits on what runs together: named throttles, and how jobs wait for a slot. */
import { expect, test } from 'vitest';
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import type { Open } from './contract.ts';
import { complete, LEASE_MS, release, retry, type Workbench } from './workbench.ts';

export const setMax = async ({ records }: Workbench, name: string, max: number): Promise<void> => {
  await records.put({ kind: THROTTLE_RECORD, key: name, value: JSON.stringify({ max }) });
};
const withThrottles = (id: string, ...throttles: readonly string[]) => ({ id, policy: { throttles } });

export function throttleContract(open: Open): void {
  test('As many jobs of a throttle run as it has slots, in the order of claims, and jobs without it go on.', async () => {
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

  test('A job that was set aside is listed with its queue, its state and its label.', async () => {
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

  test('A slot that comes back in a later queue of a claim calls who was set aside in an earlier one.', async () => {
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

  test('A throttle without a maximum holds nobody back; one that is set later counts who runs already.', async () => {
    const bench = await open();
    await bench.add(...['a', 'b', 'c'].map((id) => withThrottles(id, 'db')));
    expect(await bench.claimIds({ limit: 2 })).toEqual(['a', 'b']);
    await setMax(bench, 'db', 2);
    expect(await bench.claimIds()).toEqual([]);
  });

  test('A maximum that is raised lets the next ones in at once; one that is lowered lets the running ones finish.', async () => {
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
    ['is given back', release],
    ['fails and is tried again later', retry(1_000)],
  ])('Its slot goes to the next one when a job %s.', async (_how, said) => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ id: 'a', policy: { throttles: ['db'], retries: 5 } }, withThrottles('b', 'db'));
    const [a] = await bench.claim();
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(a as never, said);
    expect(await bench.claimIds({ limit: 1 })).toEqual([said === release ? 'a' : 'b']);
    expect(await bench.claimIds()).toEqual([]);
  });

  test('A slot whose holder is lost goes on with the lease, whoever overtakes it.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ ...withThrottles('a', 'db'), queue: 'other' }, withThrottles('b', 'db'));
    await bench.claimOne({ queues: ['other'] });
    expect(await bench.claimIds()).toEqual([]);
    await bench.loseLeases();
    expect(await bench.claimIds()).toEqual(['b']);
    expect((await bench.job('a')).slots).toEqual([]);
  });

  test('Failing a worker, stealing and cancelling give slots back as well.', async () => {
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
    ['moved away', ({ jobs }) => jobs.move([{ id: 'b', queue: 'elsewhere' }])],
    ['put off', (bench) => bench.jobs.change([{ id: 'b', runAt: bench.now + 1_000 }])],
    ['put behind', ({ jobs }) => jobs.change([{ id: 'b', priority: 9 }])],
  ])('When the one whose turn it is is %s, the one behind it has its slot.', async (_how, act) => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add(...['a', 'b', 'c'].map((id) => withThrottles(id, 'db')));
    const [a] = await bench.claim();
    expect(await bench.claimIds()).toEqual([]);
    await bench.settle(a as never, complete);
    await act(bench);
    expect(await bench.claimIds()).toEqual(['c']);
  });

  test('Whoever waits for two throttles keeps nobody back who waits for one of them alone.', async () => {
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

  test('A slot that is given back is told to those who wait for work, in every queue that waits for it.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ ...withThrottles('a', 'db'), queue: 'other' }, withThrottles('b', 'db'));
    const a = await bench.claimOne({ queues: ['other'] });
    await bench.claim();
    const log = await bench.listen();
    await bench.settle(a, complete);
    await log.until((events) => events.some(({ type, queue, id }) => type === 'freed' && queue === 'q' && id === ''));
  });

  test('Jobs of a queue that is paused hold no other queue back from a slot.', async () => {
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

  test('A throttled job is shown as such, waits among the others in a peek, and is counted with them.', async () => {
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

  test('The queue names the throttles of jobs that name none, and a change of it is heeded at once.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await setMax(bench, 'gpu', 1);
    await bench.setQueue('q', { throttles: ['db'] });
    await bench.add({ id: 'a' }, { id: 'b' }, withThrottles('c', 'gpu'), withThrottles('d'));
    expect(await bench.claimIds()).toEqual(['a', 'c', 'd']);
    await bench.setQueue('q', { throttles: [] });
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('Throttles are told with their maximum, who holds a slot and how many wait for one; keys are among them.', async () => {
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
      { address: 'k:keyed:x', max: 1, held: 1, waiting: 1, holders: ['k1'] },
      { address: 't:db', max: 1, held: 1, waiting: 2, holders: ['a'] },
      { address: 't:free', max: null, held: 1, waiting: 0, holders: ['d'] },
    ]);
    await bench.settle((await bench.job('a')) as never, complete);
    await bench.settle((await bench.job('d')) as never, complete);
    await bench.settle((await bench.job('k1')) as never, complete);
    expect(await bench.jobs.insight({ kind: 'throttles' })).toEqual([]);
  });

  test('What keeps a job back is told, where nothing else does.', async () => {
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

  test('What is parked when the clock goes back is not forgotten.', async () => {
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

  test('Many more wait for a slot than one claim looks at: the claim says that there is more to do at once.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    const many = Array.from({ length: 1_100 }, (_, n) => withThrottles(`j${n}`, 'db'));
    await bench.jobs.add(many.map((job) => ({ queue: 'q', data: '{}', ...job })));
    await bench.add({ id: 'free' });
    expect(await bench.claimIds({ limit: 1 })).toEqual(['j0']);
    const answers = [await bench.ask({ limit: 1 }), await bench.ask({ limit: 1 }), await bench.ask({ limit: 1 })];
    expect(answers.map(({ jobs, now, nextAt }) => [jobs.length, nextAt === now + 1])).toEqual([
      [0, true],
      [0, true],
      [1, false],
    ]);
  });
}
