/** Global settings: defaults for queues that do not set a value of their own. */
import { expect, test } from 'vitest';
import { GLOBAL_SETTINGS_KEY, type Keep, QUEUE_RECORD, type QueueSettings } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { complete, fail, type Workbench } from './workbench.ts';

const keepFor = (ms: number): Keep => ({ ms, count: null, bytes: null });
const setEvery = (bench: Workbench, settings: Partial<QueueSettings>) => bench.setQueue(GLOBAL_SETTINGS_KEY, settings);

export function globalSettingsContract(open: Open): void {
  test('A queue without a setting uses the global one, a queue with one uses its own, at once.', async () => {
    const bench = await open();
    await bench.setQueue('own', { leaseMs: 30_000, retries: 0 });
    await setEvery(bench, { leaseMs: 5_000, retries: 1 });
    const [theirs, own] = [await bench.running({ id: 'a' }), await bench.running({ id: 'b', queue: 'own' })];
    expect([theirs, own].map(({ lease }) => lease.until - bench.now)).toEqual([5_000, 30_000]);
    await bench.settle(theirs, fail());
    await bench.settle(own, fail());
    expect(await bench.states('a', 'b')).toEqual(['waiting', 'failed']);
    await setEvery(bench, { leaseMs: 7_000 });
    expect((await bench.claimOne()).lease.until - bench.now).toBe(7_000);
    await bench.records.delete(QUEUE_RECORD, GLOBAL_SETTINGS_KEY);
    await bench.add({ id: 'c' });
    expect((await bench.claimOne()).lease.until - bench.now).toBe(60_000);
  });

  test('A queue that sets a limit to null has none, whatever the global setting is.', async () => {
    const bench = await open();
    await setEvery(bench, { maxRunning: 1 });
    await bench.setQueue('free', { maxRunning: null });
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', queue: 'free' }, { id: 'd', queue: 'free' });
    expect(await bench.claimIds({ queues: ['q', 'free'] })).toEqual(['a', 'c', 'd']);
    await setEvery(bench, { maxRunning: 2 });
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('Retention is inherited kind by kind.', async () => {
    const bench = await open();
    await setEvery(bench, { retention: { done: keepFor(1_000), failed: keepFor(1_000) } as never });
    await bench.setQueue('q', { retention: { failed: keepFor(100_000) } as never });
    await bench.settle(await bench.running({ id: 'a' }), complete);
    await bench.settle(await bench.running({ id: 'b' }), fail());
    bench.pass(2_000);
    await bench.jobs.maintain({ limit: 10 });
    expect(await bench.states('a', 'b')).toEqual([null, 'failed']);
    bench.pass(100_000);
    await bench.jobs.maintain({ limit: 10 });
    expect(await bench.states('b')).toEqual([null]);
  });

  test('A global throttle limits jobs of all queues, and releases them when it is removed.', async () => {
    const bench = await open();
    await bench.records.put({ kind: 'throttle', key: 'all', value: '{"max":1}' });
    await setEvery(bench, { throttles: ['all'] });
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', queue: 'other' });
    expect(await bench.claimIds({ queues: ['q', 'other'] })).toEqual(['a']);
    const log = await bench.listen();
    await setEvery(bench, {});
    await log.until((events) => ['*', 'q', 'other'].every((queue) => events.some((each) => each.queue === queue)));
    expect(await bench.claimIds({ queues: ['q', 'other'] })).toEqual(['b', 'c']);
  });

  test('A global rate is counted by queue, and continues when other settings of a queue change.', async () => {
    const bench = await open();
    await setEvery(bench, { rate: { count: 1, ms: 1_000 } });
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', queue: 'other' });
    expect(await bench.claimIds({ queues: ['q', 'other'] })).toEqual(['a', 'c']);
    await bench.setQueue('q', { retries: 1 });
    expect(await bench.claimIds()).toEqual([]);
    await bench.setQueue('q', { rate: null });
    expect(await bench.claimIds()).toEqual(['b']);
  });

  test('Global webhooks are called for jobs of every queue, except where a queue has an empty list.', async () => {
    const bench = await open();
    const hook = { url: 'http://127.0.0.1/', on: ['done'] };
    await setEvery(bench, { hooks: [hook] as never });
    await bench.setQueue('quiet', { hooks: [] });
    await bench.settle(await bench.running({ id: 'a' }), complete);
    await bench.settle(await bench.running({ id: 'b', queue: 'quiet' }), complete);
    const { jobs } = await bench.jobs.list({ queue: 'hooks', order: 'newest', limit: 10 });
    expect(jobs.map(({ name }) => name)).toEqual(['a']);
    await setEvery(bench, {});
    await bench.settle(await bench.running({ id: 'c' }), complete);
    expect((await bench.jobs.list({ queue: 'hooks', order: 'newest', limit: 10 })).jobs).toHaveLength(1);
  });
}
