import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../test/processes/blobs-workbench.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import { homeAt } from './home.ts';
import { listNodes, openNodeRegistry } from './node-registry.ts';

async function aRegistry() {
  const store = openMemoryStore({ clock: 'caller' });
  const home = homeAt(await aFolder());
  const troubles: string[] = [];
  const registry = await openNodeRegistry({
    store,
    home,
    about: () => ({ host: 'h', pid: 7, url: 'http://h:3333/', version: '1' }),
    queues: () => [
      { queue: 'a', problem: null, slots: 2, running: 1 },
      { queue: 'b', problem: 'its file is gone', slots: 3, running: 0 },
    ],
    onTrouble: (what) => troubles.push(what),
  });
  onTestFinished(async () => {
    await registry.stop();
    await store.close();
    expect(troubles).toEqual([]);
  });
  return { store, home, registry };
}

it('a node is listed with what it has under way, tells that it drains, and goes', async () => {
  const { store, home, registry } = await aRegistry();
  const id = readFileSync(join(home.root, 'node-id'), 'utf8').trim();
  expect(await listNodes(store)).toMatchObject([{ id, host: 'h', slots: 5, running: 1, isDraining: false }]);
  await registry.drain();
  expect(await listNodes(store)).toMatchObject([{ id, isDraining: true }]);
  await registry.stop();
  expect(await listNodes(store)).toEqual([]);
});

it('one that no longer renews its entry is forgotten after two renewals that did not come', async () => {
  const { store } = await aRegistry();
  const at = (ms: number) => store.records.list({ kind: 'node', limit: 10 }, { now: Date.now() + ms });
  expect((await at(20_000)).length).toBe(1);
  expect((await at(36_000)).length).toBe(0);
});
