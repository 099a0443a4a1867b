import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../../test/processes/blobs-workbench.ts';
import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD } from '../../core/settings/settings.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import { DrainSwitch } from '../cluster/drain-switch.ts';
import { SystemQueue } from './system-queue.ts';

it('ignores limits set for every queue, and applies those set for itself', async () => {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  const home = await aFolder();
  const set = (key: string, settings: object) =>
    store.records.put({ kind: QUEUE_RECORD, key, value: JSON.stringify(settings) });
  await store.records.put({ kind: THROTTLE_RECORD, key: 'db', value: '{"max":1}' });
  const keep = { ms: 3_600_000, count: 5, bytes: null };
  await set(GLOBAL_SETTINGS_KEY, {
    needs: 'gpu=1',
    throttles: ['db'],
    rate: { count: 1, ms: 60_000 },
    retention: { done: keep },
  });
  await set('calls', { rate: { count: 2, ms: 60_000 } });
  const troubles: unknown[] = [];
  const parts = { store, drain: new DrainSwitch(), home, host: 'h', pid: 1, newId: randomUUID };
  const listeners = { onEvent: () => undefined, onTrouble: (_what: string, error: unknown) => troubles.push(error) };
  const run = async () => ({ kind: 'complete' as const, result: 'null' });
  await store.jobs.add(['relay-1', 'relay-2', 'relay-3'].map((id) => ({ id, queue: 'relay', data: '1' })));
  await store.jobs.add(['call-1', 'call-2', 'call-3'].map((id) => ({ id, queue: 'calls', data: '1' })));
  for (const queue of ['relay', 'calls']) {
    const systemQueue = new SystemQueue(
      { ...parts, ...listeners, journalPath: join(home, queue) },
      { queue, defaults: {}, run },
    );
    await systemQueue.start();
    onTestFinished(() => systemQueue.stop());
  }
  const done = async () => (await store.jobs.count(['relay', 'calls'])).map((each) => each.done);
  await expect.poll(done, { timeout: 10_000 }).toEqual([3, 2]);
  const settings = new SettingsCache(store);
  expect((await settings.read('relay')).retention.done).toEqual(keep);
  expect(troubles).toEqual([]);
});

it('claims nothing while its node drains, and resumes afterwards', async () => {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  const troubles: unknown[] = [];
  const home = await aFolder();
  const startQueue = async (queue: string, drain: DrainSwitch): Promise<void> => {
    const parts = { store, drain, home, host: 'h', pid: 1, journalPath: join(home, queue), newId: randomUUID };
    const listeners = { onEvent: () => undefined, onTrouble: (_what: string, error: unknown) => troubles.push(error) };
    const run = async () => ({ kind: 'complete' as const, result: 'null' });
    const systemQueue = new SystemQueue({ ...parts, ...listeners }, { queue, defaults: {}, run });
    await systemQueue.start();
    onTestFinished(() => systemQueue.stop());
  };
  const stateOf = async (id: string) => (await store.jobs.find([id]))[0]?.state;
  const drain = new DrainSwitch();
  drain.set(true);
  await store.jobs.add([{ id: 'waits', queue: 'drained', data: '1' }]);
  await startQueue('drained', drain);
  // A queue that does not drain, started later, ends before the drained one starts.
  await store.jobs.add([{ id: 'runs', queue: 'other', data: '1' }]);
  await startQueue('other', new DrainSwitch());
  await expect.poll(() => stateOf('runs'), { timeout: 10_000 }).toBe('done');
  expect(await stateOf('waits')).toBe('waiting');
  drain.set(false);
  await expect.poll(() => stateOf('waits'), { timeout: 10_000 }).toBe('done');
  expect(troubles).toEqual([]);
});
