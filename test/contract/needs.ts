/** Resources: what jobs need of the worker that runs them, and the capacity of workers. */
import { expect, test } from 'vitest';
import { MAX_NEEDS, PATIENCE_MS } from '../../src/core/limits/resources.ts';
import { MAX_PARKED } from '../../src/core/operations/claim.ts';
import type { Open } from './contract.ts';
import { setMax } from './throttles.ts';
import { complete, type Workbench } from './workbench.ts';

const needing = (id: string, needs: string, more: object = {}) => ({ id, policy: { needs }, ...more });
const offers = (whole: string, free = whole) => ({ offers: { whole, free }, leaseMs: 10 * PATIENCE_MS });

async function register(bench: Workbench, id: string, offered: string): Promise<void> {
  const info = JSON.stringify({ offers: offered });
  await bench.jobs.keepWorker({ id, host: 'h', pid: 1, queues: ['q'], leaseMs: 60_000, info, kind: 'register' });
}
async function waitReasonOf(bench: Workbench, id: string): Promise<unknown> {
  return (await bench.jobs.insight({ kind: 'brakes', ids: [id] }))[0];
}

export function needContract(open: Open): void {
  test('A worker gets a job that fits its free capacity, and one claim gives no more than is free.', async () => {
    const bench = await open();
    await bench.add(needing('a', 'cpu=2'), needing('b', 'cpu=2'), needing('c', 'cpu=1'), needing('gpu', 'cpu=1,gpu=1'));
    expect(await bench.claimIds(offers('cpu=8', 'cpu=3'))).toEqual(['a', 'c']);
    expect(await bench.claimIds(offers('cpu=8', 'cpu=1'))).toEqual([]);
    expect(await bench.claimIds(offers('cpu=8,gpu=1'))).toEqual(['b', 'gpu']);
  });

  test('A claim of several queues gives no more than is free for all of them together.', async () => {
    const bench = await open();
    await bench.add(needing('a', 'cpu=2'), needing('b', 'cpu=2', { queue: 'other' }));
    expect(await bench.claimIds({ queues: ['q', 'other'], ...offers('cpu=3') })).toEqual(['a']);
    expect(await bench.claimIds({ queues: ['q', 'other'], ...offers('cpu=3', 'cpu=1') })).toEqual([]);
  });

  test('A worker without capacity gets jobs that need nothing, also behind jobs that need resources.', async () => {
    const bench = await open();
    await bench.add(needing('a', 'cpu=1'), { id: 'plain' });
    expect(await bench.claimIds()).toEqual(['plain']);
    expect(await bench.claimIds(offers('memoryMb=100'))).toEqual([]);
    expect(await bench.claimIds(offers('cpu=1'))).toEqual(['a']);
  });

  test("A queue may set the needs of its jobs, and a job's own needs take precedence.", async () => {
    const bench = await open();
    await bench.setQueue('q', { needs: 'cpu=2' });
    await bench.add({ id: 'a' }, needing('free', ''), needing('more', 'cpu=4'));
    expect(await bench.claimIds()).toEqual(['free']);
    expect(await bench.claimIds(offers('cpu=3'))).toEqual(['a']);
    await bench.setQueue('q', {});
    await bench.add({ id: 'b' });
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('Jobs that did not fit return in their order when a worker has room.', async () => {
    const bench = await open();
    await bench.add(needing('late', 'cpu=4', { priority: 1 }), needing('early', 'cpu=4'), needing('small', 'cpu=1'));
    expect(await bench.claimIds(offers('cpu=2'))).toEqual(['small']);
    expect(await bench.claimIds(offers('cpu=4'))).toEqual(['early']);
    expect(await bench.claimIds({ ...offers('cpu=4'), requestId: 'x' })).toEqual(['late']);
  });

  test('A job that needs more than any registered worker has reports it; with such a worker it is ready.', async () => {
    const bench = await open();
    await register(bench, 'small', 'cpu=2');
    await bench.add(needing('big', 'cpu=64,gpu=1'), needing('fine', 'cpu=2'));
    expect(await waitReasonOf(bench, 'big')).toEqual({ by: 'needs', needs: 'cpu=64,gpu=1' });
    expect(await waitReasonOf(bench, 'fine')).toBeNull();
    const page = await bench.jobs.list({ label: 'throttled', order: 'newest', limit: 5 });
    expect(page.jobs.map(({ id }) => id)).toEqual(['big']);
    await register(bench, 'large', 'cpu=64,gpu=2');
    expect(await waitReasonOf(bench, 'big')).toBeNull();
    bench.pass(60_000);
    expect(await waitReasonOf(bench, 'fine')).toEqual({ by: 'needs', needs: 'cpu=2' });
  });

  test('A large job is overtaken only for a limited time: then a worker that could run it reserves its capacity.', async () => {
    const bench = await open();
    await bench.add(needing('big', 'cpu=4'));
    const small = (n: number) => bench.add(needing(`small-${n}`, 'cpu=1'));
    await small(1);
    expect(await bench.claimIds(offers('cpu=4', 'cpu=2'))).toEqual(['small-1']);
    bench.pass(PATIENCE_MS - 1);
    await small(2);
    expect(await bench.claimIds(offers('cpu=4', 'cpu=2'))).toEqual(['small-2']);
    bench.pass(1);
    await small(3);
    expect(await bench.claimIds(offers('cpu=4', 'cpu=3'))).toEqual([]);
    expect(await bench.claimIds(offers('cpu=3', 'cpu=1'))).toEqual(['small-3']);
    await small(4);
    expect(await bench.claimIds(offers('cpu=4'))).toEqual(['big']);
    expect(await bench.claimIds(offers('cpu=4', 'cpu=1'))).toEqual(['small-4']);
  });

  test('A large job that was blocked is overtaken for as long as a new one.', async () => {
    const bench = await open();
    await bench.add({ id: 'first' }, { ...needing('big', 'cpu=4'), dependsOn: ['first'] });
    bench.pass(PATIENCE_MS);
    await bench.settle(await bench.claimOne(), complete);
    for (const id of ['one', 'two']) {
      await bench.add(needing(id, 'cpu=1'));
      expect(await bench.claimIds(offers('cpu=4', 'cpu=2'))).toEqual([id]);
    }
    bench.pass(PATIENCE_MS);
    await bench.add(needing('three', 'cpu=1'));
    expect(await bench.claimIds(offers('cpu=4', 'cpu=2'))).toEqual([]);
  });

  test('A full throttle holds a job back before its needs do, and the job is not forgotten.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    const both = (id: string) => ({ id, policy: { needs: 'cpu=2', throttles: ['db'] } });
    await bench.add(both('a'), both('b'), both('c'));
    expect(await bench.claimIds(offers('cpu=1'))).toEqual([]);
    const [a] = await bench.claim(offers('cpu=8'));
    expect(a?.id).toBe('a');
    await bench.settle(a as never, complete);
    expect(await bench.claimIds(offers('cpu=1'))).toEqual([]);
    await bench.jobs.cancel([{ id: 'b' }]);
    expect(await bench.claimIds(offers('cpu=2'))).toEqual(['c']);
  });

  test('A coalesced job leaves its position to the next one that fits.', async () => {
    const bench = await open();
    await bench.setQueue('q', { coalesce: { by: ['site'] } });
    const of = (id: string, site: number, more: object) => ({ id, data: JSON.stringify({ site }), ...more });
    await bench.add(of('b', 1, needing('b', 'cpu=1')), of('c', 2, needing('c', 'cpu=1')));
    expect(await bench.claimIds()).toEqual([]);
    await bench.add(of('a', 1, { priority: -1 }));
    expect(await bench.claimIds(offers('cpu=1'))).toEqual(['a', 'c']);
    expect((await bench.job('b')).foldedInto).toBe('a');
  });

  test('A job whose throttle is full leaves its position to the next one that fits.', async () => {
    const bench = await open();
    await setMax(bench, 'db', 1);
    await bench.add({ id: 'a', policy: { needs: 'cpu=1', throttles: ['db'] } }, needing('b', 'cpu=1'));
    expect(await bench.claimIds()).toEqual([]);
    await bench.running({ id: 'holder', queue: 'other', policy: { throttles: ['db'] } });
    expect(await bench.claimIds(offers('cpu=1'))).toEqual(['b']);
  });

  const PLENTY = 2 * MAX_NEEDS + 1;
  const large = (n: number) => needing(`large-${n}`, `memoryMb=${1_000_000 + n}`);
  /** More different needs than one claim looks at, all of them too much, and by name before what would fit. */
  async function addManyNeeds(bench: Workbench): Promise<void> {
    await bench.add(...Array.from({ length: PLENTY }, (_, n) => large(n)), needing('small', 'memoryMb=5'));
    for (let parked = 0; parked <= PLENTY; parked += MAX_PARKED) expect(await bench.claimIds()).toEqual([]);
  }

  test('With any number of different needs, a job that fits is found within seconds.', async () => {
    const bench = await open();
    await addManyNeeds(bench);
    const found: string[] = [];
    // Three of them for each process that may have the store open.
    for (let round = 0; round < 9 && found.length === 0; round += 1) {
      found.push(...(await bench.claimIds(offers('memoryMb=9'))));
      bench.pass(1_000);
    }
    expect(found).toEqual(['small']);
  });

  test('A cancelled job no longer blocks jobs that fit.', async () => {
    const bench = await open();
    await addManyNeeds(bench);
    await bench.jobs.cancel(Array.from({ length: PLENTY }, (_, n) => ({ id: `large-${n}` })));
    expect(await bench.claimIds(offers('memoryMb=9'))).toEqual(['small']);
  });
}
