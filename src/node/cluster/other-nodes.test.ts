/**
 * One node calls another, which is an HTTP server of the test: which nodes it calls, which answers it accepts, and
 * which files.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { aBench } from '../../../test/processes/blobs-workbench.ts';
import type { Store } from '../../core/ports/store.ts';
import { bootIdentity } from '../../runner/process-tree/process-stat.ts';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import type { NodeEntry } from '../../wire/node-view.ts';
import { sharedFiles } from './file-fetcher.ts';
import { proveEntry } from './node-addresses.ts';
import { nodeCaller, PROOF_HEADER, proveCall } from './node-credential.ts';
import { NODE_RECORD } from './node-entry.ts';
import { NodeSecret, openNodeSecret } from './node-secret.ts';
import { OtherNodes } from './other-nodes.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface Cluster {
  readonly store: Store;
  readonly secret: NodeSecret;
  readonly others: OtherNodes;
  /** Adds a node whose API answers like this, with a valid proof. */
  node(answer: Answer): Promise<string>;
  /** Puts an entry for this address, with a valid proof unless one is given. */
  put(given: { id: string; address: string; proof?: string }): Promise<void>;
}

async function aCluster(): Promise<Cluster> {
  const memory = openMemoryStore();
  onTestFinished(() => memory.close());
  const store: Store = { ...memory, isShared: true };
  const secret = await openNodeSecret(store.records);
  const others = new OtherNodes({ id: randomUUID(), store, secret, now: Date.now });
  onTestFinished(() => others.close());
  const put: Cluster['put'] = async ({ id, address, proof }) => {
    const about = { id, name: id.slice(0, 4), epoch: 'e', machine: bootIdentity(), addresses: [address] };
    const entry = { ...about, seenAt: Date.now(), stoppedAt: null, isDraining: false } as unknown as NodeEntry;
    const value = JSON.stringify({ ...entry, proof: proof ?? proveEntry(secret, entry) });
    await store.records.put({ kind: NODE_RECORD, key: id, value });
  };
  const node: Cluster['node'] = async (answer) => {
    const id = randomUUID();
    const address = await anAddress((request, response) => {
      const { method = '', url: path = '', headers } = request;
      const caller = nodeCaller(secret, headers.authorization ?? '', { to: id, method, path, now: Date.now() });
      if (caller !== null) response.setHeader(PROOF_HEADER, caller.answer);
      answer(request, response);
    });
    await put({ id, address });
    return id;
  };
  return { store, secret, others, node, put };
}

async function anAddress(answer: Answer): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

it('accepts a call only with a proof of this secret, to this node, for this path, within a minute', () => {
  const [secret, other] = [new NodeSecret(Buffer.alloc(32, 1)), new NodeSecret(Buffer.alloc(32, 2))];
  const [id, now] = [randomUUID(), 1_000_000];
  const asked = { to: 'b', method: 'GET', path: '/api/x?y' };
  const { authorization, answer } = proveCall(secret, asked, { id, now });
  expect(nodeCaller(secret, authorization, { ...asked, now: now + 59_000 })).toEqual({ id, answer });
  for (const wrong of [{ to: 'c' }, { method: 'POST' }, { path: '/api/x' }, { now: now + 61_000 }])
    expect(nodeCaller(secret, authorization, { ...asked, now, ...wrong })).toBe(null);
  expect(nodeCaller(other, authorization, { ...asked, now })).toBe(null);
});

it('neither lists nor calls an entry without a valid proof', async () => {
  const { others, node, put } = await aCluster();
  let calls = 0;
  const trap = await anAddress((_request, response) => void response.end(`${(calls += 1)}`));
  await put({ id: randomUUID(), address: trap, proof: 'x'.repeat(43) });
  const id = await node((_request, response) => void response.end('yes'));
  expect((await others.present()).map((entry) => entry.id)).toEqual([id]);
  expect(await others.ask([], { path: '/api/x' })).toMatchObject({ ok: true, node: { id } });
  expect(calls).toBe(0);
});

it('accepts an answer only with the proof of the called node', async () => {
  const { others, put } = await aCluster();
  await put({ id: randomUUID(), address: await anAddress((_request, response) => void response.end('I am it')) });
  const [entry] = await others.present();
  if (entry === undefined) throw new Error('the node is not present');
  const reply = await others.askOne(entry, { path: '/api/x' });
  expect(reply).toEqual({ ok: false, why: expect.stringContaining('is not that node') as string });
});

it('stores a file only with the expected hash, and tries the next node that has it', async () => {
  const { others, node } = await aCluster();
  const { blobs } = await aBench();
  const right = Buffer.from('what was promised');
  const sha256 = createHash('sha256').update(right).digest('hex');
  const file = { name: 'f', sha256, size: right.length, direction: 'in' as const };
  const wanted = { id: 'job', file, signal: AbortSignal.timeout(10_000) };
  const files = sharedFiles(others, blobs);
  const dishonest = await node((_request, response) => void response.end('WHAT WAS PROMISED'));
  expect(await files.fetch({ ...wanted, holders: [dishonest] })).not.toBe(null);
  expect(await blobs.stat(sha256)).toBe(null);
  await node((_request, response) => void response.end(right));
  await expect.poll(() => files.fetch({ ...wanted, holders: [dishonest] }), { timeout: 10_000 }).toBe(null);
  expect(await blobs.stat(sha256)).toMatchObject({ size: right.length });
});
