import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../../test/processes/blobs-workbench.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { Home } from '../home.ts';
import { homeAt } from '../home.ts';
import { DrainSwitch } from './drain-switch.ts';
import { forgetNode, listNodes, orderDrain, pickNode } from './list-nodes.ts';
import { isProvenEntry } from './node-addresses.ts';
import { readEntries } from './node-entry.ts';
import { NodeRegistry, nodeIdOf } from './node-registry.ts';
import { openNodeSecret } from './node-secret.ts';

const AFTER_GONE_MS = 36_000;

async function aStore(options: { isShared: boolean }): Promise<Store> {
  const store = openMemoryStore({ clock: 'caller' });
  onTestFinished(() => store.close());
  return { ...store, ...options };
}

async function aRegistry(store: Store, given?: Home) {
  const home = given ?? homeAt(await aFolder());
  const troubles: unknown[] = [];
  const drain = new DrainSwitch();
  const registry = new NodeRegistry({
    id: nodeIdOf(home),
    store,
    home,
    drain,
    secret: await openNodeSecret(store.records),
    about: () => ({ name: 'one', host: 'h', pid: 7, url: 'http://h:3333/', isUrlSet: false, version: '1' }),
    queues: () => [
      { queue: 'a', problem: null, slots: 2, running: 1 },
      { queue: 'b', problem: 'its file was removed', slots: 3, running: 0 },
    ],
    onTrouble: (_what, error) => troubles.push(error),
  });
  await registry.start();
  onTestFinished(async () => {
    await registry.stop();
    expect(troubles).toEqual([]);
  });
  return { home, drain, registry, id: nodeIdOf(home), list: (ms = 0) => listNodes(store, registry.now() + ms) };
}

it('lists a node with its load, shows that it drains, and removes it at its stop', async () => {
  const store = await aStore({ isShared: false });
  const { home, drain, registry, list } = await aRegistry(store);
  const id = readFileSync(join(home.root, 'node-id'), 'utf8').trim();
  const known = {
    id,
    name: 'one',
    host: 'h',
    slots: 5,
    running: 1,
    clockSkewMs: 0,
    holds: { jobs: 0, attachments: 0 },
  };
  expect(await list()).toMatchObject([{ ...known, state: 'up', goneAt: null }]);
  drain.set(true);
  await registry.renew();
  expect(await list()).toMatchObject([{ id, state: 'draining', isDraining: true }]);
  await registry.stop();
  expect(await list()).toEqual([]);
});

it('forgets a node after two missed renewals', async () => {
  const store = await aStore({ isShared: false });
  await aRegistry(store);
  const at = (ms: number) => store.records.list({ kind: 'node', limit: 10 }, { now: Date.now() + ms });
  expect((await at(20_000)).length).toBe(1);
  expect((await at(AFTER_GONE_MS)).length).toBe(0);
});

it('lists a gone or stopped node of a shared store, with the jobs its workers hold, until it is forgotten', async () => {
  const store = await aStore({ isShared: true });
  const { id, list, registry } = await aRegistry(store);
  await store.jobs.add([{ id: 'job', queue: 'a', data: '1' }]);
  const worker = `${id}.w`;
  await store.jobs.keepWorker({
    id: worker,
    host: 'h',
    pid: 7,
    queues: ['a'],
    leaseMs: 1,
    info: '{}',
    kind: 'register',
  });
  await store.jobs.claim({ worker, queues: ['a'], limit: 1, requestId: 'r' });
  const [gone] = await list(AFTER_GONE_MS);
  expect(gone).toMatchObject({ state: 'gone', held: ['job'] });
  const [up] = await list();
  expect(up !== undefined && (await forgetNode(store, up))).toMatchObject({ ok: false });
  await registry.stop();
  const [stopped] = await list();
  expect(stopped).toMatchObject({ state: 'stopped', goneAt: expect.any(Number), held: ['job'] });
  expect(stopped !== undefined && (await forgetNode(store, stopped))).toEqual({ ok: true });
  expect(await list()).toEqual([]);
});

it('applies an order to drain to a running node, and to one that starts', async () => {
  const store = await aStore({ isShared: true });
  const { id, drain, list } = await aRegistry(store);
  await orderDrain(store, id, { isDraining: true });
  await expect.poll(() => drain.isDraining, { timeout: 10_000 }).toBe(true);
  await expect.poll(async () => (await list())[0]?.state, { timeout: 10_000 }).toBe('draining');
  const home = homeAt(await aFolder());
  await orderDrain(store, nodeIdOf(home), { isDraining: true });
  expect((await aRegistry(store, home)).drain.isDraining).toBe(true);
});

it('finds a node by name, id or prefix, and refuses an ambiguous name', async () => {
  const store = await aStore({ isShared: true });
  const [one] = [await aRegistry(store), await aRegistry(store)];
  const nodes = await one.list();
  expect(pickNode(nodes, one.id)).toMatchObject({ ok: true, node: { id: one.id } });
  expect(pickNode(nodes, one.id.slice(0, 8))).toMatchObject({ ok: true, node: { id: one.id } });
  expect(pickNode(nodes, 'one')).toMatchObject({ refusal: { code: 'wrong-state' } });
  expect(pickNode(nodes, 'two')).toMatchObject({ refusal: { code: 'not-found' } });
});

it('rejects the proof of a forged entry', async () => {
  const store = await aStore({ isShared: true });
  await aRegistry(store);
  const secret = await openNodeSecret(store.records);
  const [entry] = await readEntries(store);
  if (entry === undefined) throw new Error('the node is not listed');
  expect(isProvenEntry(secret, entry)).toBe(true);
  expect(isProvenEntry(secret, { ...entry, addresses: ['http://169.254.169.254/'] })).toBe(false);
  expect(isProvenEntry(secret, { ...entry, id: 'other' })).toBe(false);
  expect(isProvenEntry(await openNodeSecret(openMemoryStore().records), entry)).toBe(false);
});
