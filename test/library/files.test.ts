/** Files of TypeScript jobs in every place: SQLite's directory, a temporary one, Redis with and without one, a node. */
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openNodePlace } from '../../src/library/files/node-place.ts';
import { connect } from '../../src/library/index.ts';
import { homeAt } from '../../src/node/home.ts';
import { nodeSettings } from '../../src/node/node-settings.ts';
import { openNode } from '../../src/node/open-node.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { connectForTests } from '../../src/testing/index.ts';
import { bytesOf, piecesOf, sha256Of } from '../processes/blobs-workbench.ts';
import { openTrial } from '../server/trial-server.ts';
import { type HttpFate, openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { filesOver } from './files.ts';

const folder = mkdtempSync(join(tmpdir(), 'longhaul-library-files-'));
let homes = 0;
const aHome = (): string => join(folder, String(homes++));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface NodeUnderTest {
  readonly url: string;
  readonly store: Store;
  stop(): Promise<void>;
}

/** A node with its HTTP API. Every caller has the role `operate`, which workers need. */
async function startNode(openStore: () => Promise<Store>): Promise<NodeUnderTest> {
  const root = aHome();
  const store = await openStore();
  const node = await openNode({
    home: homeAt(root),
    store,
    settings: nodeSettings(undefined),
    version: '0.0.0',
    host: 'here',
    pid: process.pid,
    inherited: {},
  });
  const server = await openTrial({ store, role: 'operate', context: { node } });
  const stop = async (): Promise<void> => {
    await server.stop();
    await node.stop();
    await store.close();
  };
  return { url: `http://127.0.0.1:${server.port}`, store, stop };
}

filesOver('SQLite', { open: () => connect(aHome(), { durability: 'relaxed' }), isLocal: true });
filesOver('memory', { open: () => connect('memory:'), isLocal: true, isBrief: true });

describe('a node', () => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await startNode(async () => openMemoryStore());
  });
  afterAll(() => node.stop());

  filesOver('HTTP', { open: () => connect(node.url), isLocal: false });

  it('resumes an upload and a download where they were cut', async () => {
    const proxy = await openHttpFaultProxy(Number(new URL(node.url).port));
    onTestFinished(() => proxy.close());
    const place = openNodePlace({ address: `http://127.0.0.1:${proxy.port}`, token: undefined, store: null });
    onTestFinished(() => place.close());
    await node.store.jobs.add([{ id: 'cut', queue: 'cuts', data: 'null', draft: true }]);
    const fates: Record<string, HttpFate[]> = { PUT: ['cut-middle', 'lose-reply'], GET: ['half-reply'] };
    proxy.decide = ({ method }) => fates[method]?.shift() ?? 'pass';
    let sent = 0;
    proxy.onBody = (bytes) => void (sent += bytes);
    const content = bytesOf(3_000_000);
    const { signal } = new AbortController();
    // A stream is read once, so what is sent again comes from a copy.
    const file = await place.put({ id: 'cut', name: 'film', content: piecesOf(content), lease: null, signal });
    expect(file).toMatchObject({ size: content.length, sha256: sha256Of(content) });
    expect(sent).toBeLessThan(2 * content.length);
    const read: Uint8Array[] = [];
    for await (const piece of await place.open('cut', file)) read.push(piece);
    expect(sha256Of(Buffer.concat(read))).toBe(file.sha256);
    const ranges = proxy.seen.filter(({ method }) => method === 'GET').map(({ range }) => range !== '');
    expect([fates, ranges]).toEqual([{ PUT: [], GET: [] }, [false, true]]);
  });
});

describeWithRedis('Redis', () => {
  let redis: RedisServer;
  let node: NodeUnderTest;
  const home = aHome();
  beforeAll(async () => {
    redis = await startRedis();
    node = await startNode(() => openRedisStore({ url: redis.url, namespace: 'files-node' }));
  });
  afterAll(async () => {
    await node.stop();
    await redis.stop();
  });

  filesOver('Redis with a data directory', {
    open: () => connect(redis.url, { namespace: 'files-home', home }),
    isLocal: true,
  });
  filesOver('Redis with a node for files', {
    open: () => connect(redis.url, { namespace: 'files-node', files: node.url }),
    isLocal: false,
    isBrief: true,
  });

  it('refuses files without a place, and names both remedies', async () => {
    await using longhaul = await connect(redis.url, { namespace: 'files-none' });
    const queue = longhaul.queue<string>('none');
    const remedies = /no place for files: connect with \{ home: .* or with \{ files: 'http:\/\/node:3333', token \}/;
    await expect(queue.add('x', { attach: { 'a.txt': Buffer.from('a') } })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringMatching(remedies),
    });
    expect(await queue.count()).toMatchObject({ draft: 0, waiting: 0 });
    queue.work(async () => 'x'.repeat(300_000));
    await expect(queue.run('large')).rejects.toThrow(/the result is 300002 bytes of JSON, more than 262144.*home/);
  });

  it('reads a file of another machine through the node, and refuses a directory of another store', async () => {
    const options = { namespace: 'files-node', files: node.url } as const;
    await using remote = await connect(redis.url, options);
    const job = await remote.queue('shared').add(null, { attach: { 'a.txt': Buffer.from('at the node') } });
    await using local = await connect(redis.url, { ...options, home: aHome() });
    const file = await local.files(job.id).get('a.txt');
    expect([await file.localPath(), await file.text()]).toEqual([null, 'at the node']);
    await using other = await connect(redis.url, { namespace: 'files-other', home });
    await expect(other.queue('q').add(null, { attach: { 'a.txt': Buffer.from('a') } })).rejects.toMatchObject({
      code: 'bad-input',
      message: expect.stringContaining('holds the files of another store'),
    });
  });
});

it('removes the files of a deleted job while a worker runs, once an hour', async () => {
  const home = aHome();
  await using longhaul = await connect(home, { durability: 'relaxed' });
  const queue = longhaul.queue<null>('deleted');
  const [gone, kept] = await queue.addAll([null, null], () => ({ attach: { 'a.txt': Buffer.from('a') } }));
  const namesOf = async (id = '') => (await longhaul.files(id).list()).map(({ name }) => name);
  const sweepOnce = async (): Promise<void> => {
    const work = longhaul.work(['other'], () => null);
    await work.ready;
    await work.stop();
  };
  await longhaul.delete(gone?.id ?? '');
  await sweepOnce();
  expect([await namesOf(gone?.id), await namesOf(kept?.id)]).toEqual([[], ['a.txt']]);
  await longhaul.delete(kept?.id ?? '');
  await sweepOnce();
  expect(await namesOf(kept?.id)).toEqual(['a.txt']);
  utimesSync(join(home, 'files-swept'), 0, 0);
  await sweepOnce();
  expect(await namesOf(kept?.id)).toEqual([]);
});

it('gives the testing kit files in a temporary directory', async () => {
  const { longhaul } = connectForTests();
  const queue = longhaul.queue<null, string>('kit');
  queue.work(async (job) => (await job.files.get('a.txt')).text());
  expect(await queue.run(null, { attach: { 'a.txt': Buffer.from('a') } })).toBe('a');
  await longhaul.close();
});

it('refuses an address for files with a store that has its own place', async () => {
  await expect(connect('memory:', { files: 'http://127.0.0.1:1' })).rejects.toMatchObject({
    code: 'bad-input',
    message: expect.stringContaining('is only for Redis'),
  });
});
