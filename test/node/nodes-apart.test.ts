/** Two nodes on one Redis: the connection breaks in the middle of a file, then one node dies for good. */
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import type { ProvenEntry } from '../../src/node/cluster/node-entry.ts';
import type { RunningRows } from '../../src/wire/overview.ts';
import { cli, eventually } from '../processes/scripts-workbench.ts';
import { type HttpFaultProxy, openHttpFaultProxy } from '../support/http-fault-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { NodeBench, openStore, untilState } from './nodes-bench.ts';

const run = promisify(execFile);
const HASH = 'sha256sum attach/input.bin';
/** Longer than a node may miss renewals before it counts as gone. */
const SILENT_MS = 60_000;

describeWithRedis('two nodes that are cut off from each other', () => {
  let redis: RedisServer;
  let longhaul: Longhaul;
  let proxy: HttpFaultProxy;
  let [holder, runner]: NodeBench[] = [];
  let orphan = '';
  const [h, r] = [() => holder as NodeBench, () => runner as NodeBench];
  beforeAll(async () => {
    redis = await startRedis();
    longhaul = await openStore(redis.url);
    proxy = await openHttpFaultProxy(0);
    // Other nodes reach it through the proxy first.
    holder = new NodeBench('holder', redis.url, { url: `http://127.0.0.1:${proxy.port}/`, copyUpTo: 0 });
    runner = new NodeBench('runner', redis.url, { copyUpTo: 0 });
    holder.bench.queue('busy', 'echo busy; sleep 300', { concurrency: 2 });
    runner.bench.queue('hash', HASH);
    await Promise.all([startHolder(), runner.start()]);
  });
  afterAll(async () => {
    await longhaul.close();
    for (const node of [holder, runner]) await node?.bench.close();
    await proxy.close();
    await redis.stop();
  });

  /** Makes other nodes find it at the proxy, whatever its port. */
  async function startHolder(): Promise<void> {
    await h().start();
    const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(await h().served.says('listening on')) ?? [];
    h().url = `http://127.0.0.1:${port}/`;
    proxy.target = Number(port);
    proxy.isDown = false;
  }

  const board = () => r().json<RunningRows>('/api/running');
  const linesOf = ({ rows }: RunningRows) => rows.map(({ lastLine }) => lastLine).join();

  /** Asynchronous: this process is the proxy between the nodes. */
  async function doctor(): Promise<string> {
    const args = [cli, 'doctor', '--home', r().bench.home, '--store', redis.url];
    const { stdout } = await run(process.execPath, args).catch((error: { stdout: string }) => error);
    return stdout;
  }

  it('an interrupted file transfer resumes, and the file is verified by its hash', async () => {
    const [id, bytes] = [`cut-${Date.now()}`, randomBytes(4 * 1024 * 1024)];
    const path = `/api/jobs/${id}/attachments/`;
    const asked = () => proxy.seen.filter((each) => each.method === 'GET' && each.path.startsWith(path));
    proxy.decide = () => (asked().length === 1 ? 'half-reply' : 'pass');
    await h().addWithFile('hash', id, { name: 'input.bin', bytes });
    await untilState(longhaul, id, 'done');
    expect(asked().map(({ range }) => range)).toEqual(['', expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(r().bench.log(id)).toBe(`${sha256}  attach/input.bin\n`);
    await expect.poll(doctor).toMatch(/ok +nodes +1 other node: present, same version/);
  });

  it('the list of running jobs asks a node once for all of its jobs', async () => {
    for (const id of ['left', 'also-left']) await h().post('/api/jobs', { id, queue: 'busy', data: {} });
    await eventually(board, (seen) => linesOf(seen) === 'busy,busy');
    const calls = () => proxy.seen.filter(({ path }) => path === '/api/running/here').length;
    const before = calls();
    const boards = await Promise.all([board(), board(), board()]);
    expect(boards.map(linesOf)).toEqual(['busy,busy', 'busy,busy', 'busy,busy']);
    // At most one request each, and fewer within a second.
    expect(calls() - before).toBeLessThanOrEqual(boards.length);
  });

  it('a killed node is listed as gone with its files; jobs wait for files that only it has', async () => {
    // Present first, even where an earlier try has killed it; with a queue that no worker serves yet.
    if (!h().isUp) await startHolder();
    const later = `later-${Date.now()}`;
    orphan = `orphan-${Date.now()}`;
    await h().addWithFile(later, orphan, { name: 'input.bin', bytes: 'only there' });
    await h().kill();
    proxy.isDown = true;
    proxy.cutAll();
    await expect
      .poll(doctor)
      .toMatch(/warning nodes +logs and files held by node holder, which cannot be called: .*127/);
    // The cached answer is still shown; then its rows are missing.
    await eventually(board, (seen) => linesOf(seen) === ',');
    await passTime();
    const found = (await r().nodes()).find(({ name }) => name === 'holder');
    expect(found).toMatchObject({
      state: 'gone',
      goneAt: expect.any(Number),
      held: expect.arrayContaining(['left', 'also-left']),
    });
    expect(await doctor()).toMatch(/warning nodes +node holder is gone since 20/);
    r().bench.queue(later, HASH);
    const waits = /^waiting for attachment input\.bin: held by node holder, gone since 20/;
    const saying = () => longhaul.find(orphan).then((job) => job?.progress?.text ?? '');
    await eventually(saying, (text) => waits.test(text));
    expect((await longhaul.find(orphan))?.state).toBe('running');
  });

  it('files that only it had are lost once the operator forgets the node', async () => {
    const isKnown = (await r().nodes()).some(({ name }) => name === 'holder');
    if (isKnown) expect(r().bench.run('nodes', 'forget', 'holder')).toMatchObject({ code: 0 });
    await untilState(longhaul, orphan, 'failed');
    const job = await longhaul.find(orphan);
    expect(job?.failure).toMatchObject({ group: 'attachment lost', message: expect.stringContaining('input.bin') });
  });

  /** As if the killed node had been silent that long: its entry is no longer renewed. */
  async function passTime(): Promise<void> {
    const { records } = longhaul.store;
    const found = (await records.list({ kind: 'node', limit: 10 })).find(({ value }) => value.includes('"holder"'));
    const entry = JSON.parse(found?.value ?? '{}') as ProvenEntry;
    const value = JSON.stringify({ ...entry, seenAt: entry.seenAt - SILENT_MS });
    await records.put({ kind: 'node', key: entry.id, value });
  }
});
