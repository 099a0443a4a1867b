/** Two nodes on one Redis: authorized callers read the files of one through the other. */
import { createHash, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { proveCall } from '../../src/node/cluster/node-credential.ts';
import type { ProvenEntry } from '../../src/node/cluster/node-entry.ts';
import { NodeSecret, openNodeSecret } from '../../src/node/cluster/node-secret.ts';
import type { AttemptView } from '../../src/wire/attempt-view.ts';
import type { OneRunning, RunningRows } from '../../src/wire/overview.ts';
import { cli, eventually } from '../processes/scripts-workbench.ts';
import { readEvents } from '../server-files/stream-reader.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { NodeBench, openStore, untilState } from './nodes-bench.ts';
import { getOverSocket } from './serve-bench.ts';

const TALK = `
echo "attempt on $LONGHAUL_QUEUE"
for n in {1..200}; do echo "line $n of the log"; done
echo "of $LONGHAUL_JOB_ID" > out/own.txt
if [ -d attach ]; then sha256sum attach/input.bin; cp attach/input.bin out/copy.bin; fi
`;
const FORGED = '00000000-0000-4000-8000-000000000000';
/** Prints, then waits for a file of its own. */
const HOLD = `echo begun; while [ ! -e "$(dirname "$0")/.$LONGHAUL_JOB_ID" ]; do sleep 0.05; done; echo ended`;

/** Its first step has more output than fits into a step; then it waits for an event. */
const stages = (node: string): string => `step() { '${process.execPath}' '${cli}' step "$@"; }
echo "begun on ${node}"; step big -- seq 60000 | cksum; step --event go || exit; echo "ended on ${node}"`;

describeWithRedis('two nodes on one Redis', () => {
  let redis: RedisServer;
  let longhaul: Longhaul;
  let [here, there]: NodeBench[] = [];
  /** The job whose log and files only the second node has. */
  let follows = '';
  const [a, b] = [() => here as NodeBench, () => there as NodeBench];
  /** Of this try: a retry must not find files of an earlier one. */
  const fresh = (name: string) => `${name}-${Date.now()}`;
  beforeAll(async () => {
    redis = await startRedis();
    longhaul = await openStore(redis.url);
    here = new NodeBench('one', redis.url, { copyUpTo: '1MB' });
    there = new NodeBench('two', redis.url, { copyUpTo: 0 });
    here.bench.queue('both', TALK);
    there.bench.queue('both', TALK);
    there.bench.queue('theirs', TALK);
    there.bench.queue('held', HOLD, { concurrency: 9 });
    await Promise.all([here.start(), there.start()]);
  });
  afterAll(async () => {
    await longhaul.close();
    for (const node of [here, there]) await node?.bench.close();
    await redis.stop();
  });

  it('each lists both, with their queues', async () => {
    for (const node of [a(), b()]) {
      await expect.poll(async () => statesAt(node)).toEqual(['one up', 'two up']);
      const nodes = await node.nodes();
      expect(nodes[0]?.queues.map(({ queue }) => queue)).toEqual(['both']);
      expect(new Set(nodes.map(({ epoch }) => epoch)).size).toBe(2);
      expect(nodes.every(({ addresses }) => addresses.length > 0)).toBe(true);
    }
    const listed = a().bench.run('nodes');
    expect(listed).toMatchObject({ code: 0, output: expect.stringMatching(/one .*up[\s\S]*two .*up/) });
  });

  it('a file added through one follows the job to the other, and its outputs are read through the first', async () => {
    const bytes = randomBytes(3 * 1024 * 1024);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    follows = fresh('follows');
    await a().addWithFile('theirs', follows, { name: 'input.bin', bytes });
    await untilState(longhaul, follows, 'done');
    const log = await a().get(`/api/jobs/${follows}/attempts/1/log`);
    expect(log).toMatchObject({ status: 200, text: expect.stringContaining(`${sha256}  attach/input.bin`) });
    const copy = await fetch(new URL(`/api/jobs/${follows}/attachments/copy.bin`, a().url));
    expect(
      createHash('sha256')
        .update(new Uint8Array(await copy.arrayBuffer()))
        .digest('hex'),
    ).toBe(sha256);
  });

  it('its log is read by range, by lines and by search, and its attempts are shown with their node', async () => {
    await a().post('/api/jobs', { id: 'talk', queue: 'theirs', data: {} });
    await untilState(longhaul, 'talk', 'done');
    const path = '/api/jobs/talk/attempts/latest/log';
    const whole = await b().get(path);
    expect((await a().get(path)).text).toBe(whole.text);
    const part = await fetch(new URL(path, a().url), { headers: { range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([
      206,
      `bytes 10-19/${whole.text.length}`,
      whole.text.slice(10, 20),
    ]);
    const lines = await a().json<{ lines: readonly { text: string }[] }>(`${path}?tail=2`);
    expect(lines.lines.map(({ text }) => text)).toEqual(['line 199 of the log', 'line 200 of the log']);
    const found = await a().json<{ matches: readonly { line: number }[] }>(`${path}/search?q=line+150`);
    expect(found.matches).toMatchObject([{ line: 151 }]);
    expect((await a().get(`${path}/search?q=(&regex=true`)).status).toBe(400);
    const { attempts } = await a().json<{ attempts: readonly AttemptView[] }>('/api/jobs/talk/attempts');
    expect(attempts).toMatchObject([{ attempt: 1, end: { exit: 0 }, node: { name: 'two', goneAt: null } }]);
    expect((await a().get('/q/theirs/talk/log/stdio.log')).text).toBe(whole.text);
  });

  it('a script that resumes on the other node continues its log and its steps there, and both nodes show all of it', async () => {
    const id = fresh('moves');
    b().bench.queue('stages', stages('two'));
    await b().post('/api/jobs', { id, queue: 'stages', data: {} });
    await expect.poll(async () => (await longhaul.find(id))?.label, { timeout: 20_000 }).toBe('suspended');
    rmSync(join(b().bench.queues, 'stages'));
    a().bench.queue('stages', stages('one'));
    expect(await longhaul.notify(id, 'go', 7)).toMatchObject({ ok: true, outcome: 'woken' });
    await untilState(longhaul, id, 'done');
    const log = a().bench.log(id);
    expect(log).toMatch(/^begun on two\n(\d+ 348894)\nbegun on one\n\1\n7\nended on one\n$/);
    for (const node of [a(), b()]) {
      expect((await node.get(`/api/jobs/${id}/attempts/latest/log`)).text).toBe(log);
      const { attempts } = await node.json<{ attempts: readonly AttemptView[] }>(`/api/jobs/${id}/attempts`);
      expect(attempts).toMatchObject([{ attempt: 1, outcome: 'completed', log: { size: log.length } }]);
    }
  });

  it('any node returns the end of its log to the sender of a relay', async () => {
    const id = fresh('relayed');
    const relayed = { queue: 'theirs', data: {}, source: 'elsewhere', origin: 'http://far.example/q/x', hops: 1 };
    const put = await fetch(new URL(`/api/relay/${id}`, a().url), {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(relayed),
    });
    expect(await put.json()).toMatchObject({ phase: 'draft' });
    expect(await a().post(`/api/relay/${id}/commit`, { files: [] })).toMatchObject({ status: 200 });
    await untilState(longhaul, id, 'done');
    const log = await b().get(`/api/relay/${id}/log`);
    expect(log).toMatchObject({
      status: 200,
      text: expect.stringMatching(/^attempt on theirs\n.*line 200 of the log\n$/s),
    });
    expect((await a().get(`/api/relay/${id}/log`)).text).toBe(log.text);
  });

  it('a running job is followed live, with its processes, to its end', async () => {
    const id = fresh('live');
    onTestFinished(() => void b().bench.queue(`.${id}`, ''));
    await a().post('/api/jobs', { id, queue: 'held', data: {} });
    await untilState(longhaul, id, 'running');
    await eventually(
      async () => (await a().get(`/api/jobs/${id}/attempts/1/log`)).text,
      (text) => text === 'begun\n',
    );
    const { hostname, port } = new URL(a().url);
    const path = `/api/jobs/${id}/attempts/latest/log/events`;
    const reader = await readEvents({ host: hostname, port: Number(port), path, headers: {} });
    await reader.next(({ data }) => data['text'] === 'begun\n');
    const tree = await a().json<{ isHere: boolean; count: number }>(`/api/jobs/${id}/processes`);
    expect(tree).toMatchObject({ isHere: true });
    expect(tree.count).toBeGreaterThan(0);
    // The list of running jobs has its last line, from the node that runs it.
    const board = await eventually(
      () => a().json<RunningRows>('/api/running'),
      ({ rows }) => rows.length === 1 && rows[0]?.lastLine === 'begun',
    );
    expect(board.rows).toMatchObject([{ job: { id }, lastLine: 'begun' }]);
    const running = () => a().json<OneRunning>(`/api/jobs/${id}/running`);
    await expect.poll(running).toMatchObject({ row: { lastLine: 'begun' } });
    b().bench.queue(`.${id}`, '');
    await reader.next(({ event, data }) => event === 'end' && data['state'] === 'done');
    expect(reader.messages.map(({ data }) => data['text']).join('')).toBe('begun\nended\n');
    reader.close();
  });

  it('a caller without a valid proof is refused, and a node may read files and nothing else', async () => {
    const secret = await openNodeSecret(longhaul.store.records);
    const [one, two] = await a().nodes();
    const now = Date.now();
    const ask = async (path: string, given: { by?: NodeSecret; to?: string; signed?: string; at?: number } = {}) => {
      const asked = { to: given.to ?? two?.id ?? '', method: 'GET', path: given.signed ?? path };
      const by = { id: one?.id ?? '', now: given.at ?? now };
      const { authorization, answer } = proveCall(given.by ?? secret, asked, by);
      const response = await fetch(new URL(path, b().url), { headers: { authorization } });
      return { status: response.status, isProven: response.headers.get('node-proof') === answer };
    };
    const log = '/api/jobs/talk/attempts/1/log';
    expect(await ask(log)).toEqual({ status: 200, isProven: true });
    for (const wrong of [
      { by: new NodeSecret(randomBytes(32)) },
      { to: one?.id ?? '' },
      { signed: '/api/jobs/other/attempts/1/log' },
      { at: now - 120_000 },
    ])
      expect(await ask(log, wrong)).toEqual({ status: 401, isProven: false });
    for (const path of ['/api/jobs', '/api/nodes', '/api/tokens', '/api/audit'])
      expect({ path, ...(await ask(path)) }).toMatchObject({ path, status: 403 });
    // It answers from its own disk: a node never forwards such a request.
    expect((await ask('/api/jobs/elsewhere/attempts/1/log')).status).toBe(404);
  });

  it('no route returns the secret, and an entry without a valid proof is never called', async () => {
    const body = { argument: { kind: 'node-secret', key: 'nodes' } };
    const read = await a().post('/api/store/records/get', body);
    expect([read.status, read.text]).toEqual([403, expect.stringContaining('cannot be read through the API')]);
    expect((await getOverSocket(a().bench.home, '/api/nodes')).text).not.toContain('"proof"');
    let calls = 0;
    const trap = createServer((_request, response) => {
      calls += 1;
      response.end('x'.repeat(10));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => trap.once('listening', resolve));
    try {
      const [record] = (await longhaul.store.records.list({ kind: 'node', limit: 10 })).filter(({ value }) =>
        value.includes('"name":"two"'),
      );
      const entry = JSON.parse(record?.value ?? '{}') as ProvenEntry;
      const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`;
      const forged = { ...entry, id: FORGED, addresses: [address] };
      // Repeatedly: the node itself corrects the entry, perhaps before it is read.
      const forge = async () => {
        for (const { id, ...rest } of [forged, { ...entry, addresses: [address] }])
          await longhaul.store.records.put({ kind: 'node', key: id, value: JSON.stringify({ id, ...rest }) });
        return a().get('/api/jobs/talk/attempts/1/log');
      };
      const answer = await eventually(forge, ({ status }) => status === 503);
      expect(answer.text).toContain('node-away');
      expect(calls).toBe(0);
    } finally {
      await longhaul.store.records.delete('node', FORGED);
      trap.close();
    }
    await eventually(
      async () => (await a().get('/api/jobs/talk/attempts/1/log')).status,
      (status) => status === 200,
    );
  });

  it('a draining node starts nothing more, even after a restart, and others run the waiting jobs', async () => {
    if (!b().isUp) await b().start();
    expect(b().bench.run('nodes', 'drain', 'two', '--wait')).toMatchObject({ code: 0 });
    await expect.poll(() => statesAt(a())).toEqual(['one up', 'two draining']);
    const ids = [1, 2, 3, 4].map((number) => fresh(`d${number}`));
    const stays = fresh('stays');
    for (const id of ids) await b().post('/api/jobs', { id, queue: 'both', data: {} });
    await a().post('/api/jobs', { id: stays, queue: 'theirs', data: {} });
    for (const id of ids) await untilState(longhaul, id, 'done');
    await b().stop();
    await b().start();
    expect((await longhaul.find(stays))?.state).toBe('waiting');
    expect((await a().post('/api/nodes/two/resume')).status).toBe(200);
    await untilState(longhaul, stays, 'done');
    const logs = await Promise.all(ids.map((id) => a().get(`/api/jobs/${id}/attempts`)));
    const runners = logs.map(
      ({ text }) => (JSON.parse(text) as { attempts: { node: { name: string } }[] }).attempts[0],
    );
    expect(new Set(runners.map((each) => each?.node.name))).toEqual(new Set(['this node']));
    // The other node got a copy before the settlement.
    const [first = ''] = ids;
    expect(b().bench.log(first)).toBe(a().bench.log(first));
    expect(b().bench.record(first).end?.exit).toBe(0);
  });

  it('an absent node is listed with its files; requests for files that only it has say so', async () => {
    // Present first, even where an earlier try has forgotten it.
    if (!b().isUp) await b().start();
    await b().stop();
    await expect.poll(() => statesAt(a())).toEqual(['one up', 'two stopped']);
    const [, two] = await a().nodes();
    expect(two).toMatchObject({ name: 'two', state: 'stopped', goneAt: expect.any(Number), held: [] });
    expect(two?.holds?.jobs).toBeGreaterThan(0);
    for (const path of ['attempts/1/log', 'attachments/own.txt']) {
      const away = await a().get(`/api/jobs/${follows}/${path}`);
      expect([away.status, away.text]).toEqual([503, expect.stringMatching(/held by node two, gone since 20/)]);
    }
    const { attempts } = await a().json<{ attempts: readonly unknown[] }>(`/api/jobs/${follows}/attempts`);
    expect(attempts).toMatchObject([{ node: { name: 'two', goneAt: expect.any(Number) }, log: null }]);
    expect(a().bench.run('nodes', 'forget', 'one')).toMatchObject({
      code: 1,
      output: expect.stringContaining('is running'),
    });
    expect(a().bench.run('nodes', 'forget', 'two')).toMatchObject({ code: 0 });
    await expect.poll(() => statesAt(a())).toEqual(['one up']);
    // Entries are cached for half a second.
    await eventually(
      async () => (await a().get(`/api/jobs/${follows}/attachments/own.txt`)).text,
      (text) => text.includes('held by a node that was forgotten'),
    );
  });
});

const statesAt = async (node: NodeBench): Promise<readonly string[]> =>
  (await node.nodes()).map(({ name, state }) => `${name} ${state}`);
