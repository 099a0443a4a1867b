import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../test/processes/blobs-workbench.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import { BuiltInLane } from './built-in-lane.ts';
import { DrainSwitch } from './nodes/drain-switch.ts';

it('claims nothing while its node drains, and goes on when it does no longer', async () => {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  const troubles: unknown[] = [];
  const home = await aFolder();
  const aLane = async (queue: string, drain: DrainSwitch): Promise<void> => {
    const parts = { store, drain, home, host: 'h', pid: 1, journalPath: join(home, queue), newId: randomUUID };
    const told = { onEvent: () => undefined, onTrouble: (_what: string, error: unknown) => troubles.push(error) };
    const run = async () => ({ kind: 'complete' as const, result: 'null' });
    const lane = new BuiltInLane({ ...parts, ...told }, { queue, defaults: {}, run });
    await lane.start();
    onTestFinished(() => lane.stop());
  };
  const stateOf = async (id: string) => (await store.jobs.find([id]))[0]?.state;
  const drain = new DrainSwitch();
  drain.set(true);
  await store.jobs.add([{ id: 'waits', queue: 'drained', data: '1' }]);
  await aLane('drained', drain);
  // What begins later on a lane that does not drain ends before the other has begun.
  await store.jobs.add([{ id: 'runs', queue: 'other', data: '1' }]);
  await aLane('other', new DrainSwitch());
  await expect.poll(() => stateOf('runs'), { timeout: 10_000 }).toBe('done');
  expect(await stateOf('waits')).toBe('waiting');
  drain.set(false);
  await expect.poll(() => stateOf('waits'), { timeout: 10_000 }).toBe('done');
  expect(troubles).toEqual([]);
});
