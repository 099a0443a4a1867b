import { randomUUID } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { aFolder } from '../../../test/processes/blobs-workbench.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { NodeEntry } from '../../wire/node-view.ts';
import { homeAt } from '../home.ts';
import { checkNodes } from './check-nodes.ts';
import { proveEntry } from './node-addresses.ts';
import { NODE_RECORD } from './node-entry.ts';
import { nodeIdOf } from './node-registry.ts';
import { openNodeSecret } from './node-secret.ts';

const HALF_A_MINUTE = 36_000;

function aStore(): Store {
  const store = openMemoryStore();
  onTestFinished(() => store.close());
  return { ...store, isShared: true };
}

/** An entry as its node would write it: present, version 1, correct clock, with an address that does not answer. */
async function put(store: Store, given: Partial<NodeEntry>, proof?: string): Promise<void> {
  const addresses = ['http://127.0.0.1:1/'];
  const entry = { id: randomUUID(), epoch: 'e', machine: 'm', addresses, version: '1', clockSkewMs: 0, ...given };
  const whole = { seenAt: Date.now(), stoppedAt: null, isDraining: false, ...entry } as NodeEntry;
  const value = JSON.stringify({ ...whole, proof: proof ?? proveEntry(await openNodeSecret(store.records), whole) });
  await store.records.put({ kind: NODE_RECORD, key: whole.id, value });
}

it('reports a different version, a wrong clock, and an address that does not answer', async () => {
  const [home, store] = [homeAt(await aFolder()), aStore()];
  await put(store, { id: nodeIdOf(home), name: 'own', clockSkewMs: -1_500 });
  await put(store, { name: 'other', version: '2', clockSkewMs: 2_500 });
  const found = await checkNodes({ home, store, version: '1' });
  expect(found.every(({ about, level, cure }) => about === 'nodes' && level === 'warning' && cure !== '')).toBe(true);
  expect(found.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^logs and files held by node other, which .* \(http:\/\/127\.0\.0\.1:1\/\)$/),
    "the clock of node other is 2.5 s ahead of the store's",
    'node other runs version 2, this is 1',
    "the clock of node own is 1.5 s behind the store's",
  ]);
});

it('reports a node that is gone, a stopped one, and an entry without a valid proof', async () => {
  const [home, store] = [homeAt(await aFolder()), aStore()];
  expect(await checkNodes({ home, store, version: '1' })).toEqual([]);
  await put(store, { name: 'gone', seenAt: Date.now() - HALF_A_MINUTE });
  await put(store, { name: 'stopped', stoppedAt: Date.now() });
  await put(store, { name: 'forged' }, 'x'.repeat(43));
  const found = await checkNodes({ home, store, version: '1' });
  expect(found.map(({ level, message }) => `${level}: ${message}`).sort()).toEqual([
    expect.stringMatching(/^note: node stopped is stopped since 20/),
    expect.stringMatching(/^warning: node gone is gone since 20/),
    expect.stringMatching(/^warning: the entry of node forged has no valid proof/),
  ]);
});

it('reports no problem of a single node', async () => {
  const [home, store] = [homeAt(await aFolder()), aStore()];
  await put(store, { id: nodeIdOf(home), name: 'own' });
  expect(await checkNodes({ home, store, version: '1' })).toMatchObject([{ level: 'ok' }]);
});
