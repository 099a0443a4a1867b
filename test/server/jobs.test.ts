/** The life of jobs over HTTP: what a script with curl can do. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { JobView } from '../../src/wire/job-view.ts';
import { startTrial, type TrialServer } from './trial-server.ts';

const post = async (server: TrialServer, path: string, body: unknown = {}, headers = {}) =>
  server.ask('POST', path, { body, headers });
const get = async (server: TrialServer, path: string) => (await server.ask('GET', path)).json as never;
const job = async (server: TrialServer, id: string): Promise<JobView> => get(server, `/api/jobs/${id}`);

interface Claimed {
  readonly jobs: readonly (JobView & { lease: { token: number } })[];
}
async function claimOne(server: TrialServer, body: object = {}): Promise<{ id: string; token: number; data: unknown }> {
  const { json } = await post(server, '/api/claim', { worker: 'w', queues: ['mail'], ...body });
  const [claimed] = (json as Claimed).jobs;
  if (claimed === undefined) throw new Error('there was nothing to claim');
  return { id: claimed.id, token: claimed.lease.token, data: claimed.data };
}

describe('a job', () => {
  it('is added, read, claimed, renewed, settled, and has a history', async () => {
    const server = await startTrial();
    const added = await post(server, '/api/jobs', { queue: 'mail', id: 'a', data: { to: 'x' }, tags: ['t'] });
    expect(added).toMatchObject({ status: 201, json: { id: 'a', queue: 'mail', state: 'waiting', outcome: 'added' } });
    expect(await job(server, 'a')).toMatchObject({ data: { to: 'x' }, label: 'ready', reason: 'waits for a worker' });
    const attempt = await claimOne(server);
    expect(attempt.data).toEqual({ to: 'x' });
    const { id, token } = attempt;
    const beat = { id, token, progress: { percent: 40, text: 'half' }, checkpoint: { page: 3 }, lease: '2m' };
    expect(await post(server, '/api/heartbeat', beat)).toMatchObject({ json: { ok: true, cancelAsked: false } });
    expect(await job(server, 'a')).toMatchObject({ checkpoint: { page: 3 }, progress: { percent: 40, text: 'half' } });
    const said = { id, token, kind: 'complete', result: { sent: true } };
    expect(await post(server, '/api/settle', said)).toMatchObject({ json: { ok: true, state: 'done' } });
    expect(await post(server, '/api/settle', said)).toMatchObject({ status: 200, json: { ok: true, state: 'done' } });
    expect(await job(server, 'a')).toMatchObject({ state: 'done', result: { sent: true } });
    const { history } = await get(server, '/api/jobs/a/history');
    expect((history as { event: string }[]).map(({ event }) => event)).toEqual(['added', 'claimed', 'completed']);
  });

  it('accepts the options of add with durations as text', async () => {
    const server = await startTrial();
    const options = {
      retries: 3,
      backoff: ['1s', '1m'],
      delay: '1h',
      priority: -1,
      name: 'n',
      unique: 'k',
      maxRuntime: '2h',
    };
    await post(server, '/api/jobs', { queue: 'mail', id: 'a', ...options });
    const policy = { retries: 3, backoff: { kind: 'list', delaysMs: [1_000, 60_000] }, maxRuntimeMs: 7_200_000 };
    expect(await job(server, 'a')).toMatchObject({ data: null, label: 'scheduled', priority: -1, name: 'n', policy });
    expect(await post(server, '/api/jobs', { queue: 'mail', id: 'b', unique: 'k' })).toMatchObject({
      status: 200,
      json: { id: 'a', outcome: 'duplicate' },
    });
  });

  it('is added in a list with a result for each job', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'off', state: 'down' });
    const body = [
      { queue: 'mail', id: 'a' },
      { queue: 'off', id: 'b' },
      { queue: 'mail', id: 'a' },
    ];
    const { json, status } = await post(server, '/api/jobs', body);
    expect(status).toBe(201);
    expect(json).toMatchObject([
      { id: 'a', outcome: 'added' },
      { ok: false, refusal: { code: 'queue-down' } },
      { id: 'a', outcome: 'exists' },
    ]);
  });

  it('that is invalid is refused with the path of every problem', async () => {
    const server = await startTrial();
    const body = [
      { queue: 'mail' },
      { queue: 'a b', delay: 'soon', tags: ['', 5], backoff: { jitter: 2 }, dleay: 1 },
      {},
    ];
    const { json, status } = await post(server, '/api/jobs', body);
    expect(status).toBe(400);
    const { problems } = json as { problems: { path: string; message: string }[] };
    expect(problems.map(({ path }) => path)).toEqual([
      '[1].queue',
      '[1].delay',
      '[1].tags[0]',
      '[1].tags[1]',
      '[1].backoff.jitter',
      '[1].dleay',
      '[2].queue',
    ]);
    expect(problems[5]?.message).toContain('did you mean delay?');
    expect((await get(server, '/api/jobs')) as object).toMatchObject({ jobs: [] });
  });

  it('with data that is too large or too deep is refused with the path', async () => {
    const server = await startTrial();
    const large = await post(server, '/api/jobs', { queue: 'mail', data: 'x'.repeat(257 * 1024) });
    expect(large).toMatchObject({ status: 400, json: { problems: [{ path: 'data' }] } });
    const deep = JSON.parse(`${'['.repeat(205)}${']'.repeat(205)}`) as unknown;
    const answer = await post(server, '/api/jobs', [{ queue: 'mail', data: { a: deep } }]);
    expect(answer.status).toBe(400);
    expect((answer.json as { problems: { path: string }[] }).problems[0]?.path).toMatch(/^\[0\]\.data\.a\[0\]/);
  });

  it('keeps suspicious data unchanged', async () => {
    const server = await startTrial();
    const raw = '{"queue":"mail","id":"a","data":{"__proto__":{"x":1},"constructor":1,"s":"\\ud800"}}';
    await server.ask('POST', '/api/jobs', { raw, headers: { 'content-type': 'application/json' } });
    const { text } = await server.ask('GET', '/api/jobs/a');
    expect(text).toContain('"data":{"__proto__":{"x":1},"constructor":1,"s":"\\ud800"}');
    expect(Object.prototype).not.toHaveProperty('x');
  });

  it('is added once under an Idempotency-Key, however often the request is repeated', async () => {
    const server = await startTrial();
    const key = { 'idempotency-key': 'order-7' };
    const first = await post(server, '/api/jobs', { queue: 'mail', data: 1 }, key);
    const second = await post(server, '/api/jobs', { queue: 'mail', data: 1 }, key);
    expect(second).toMatchObject({ status: 201, json: first.json, headers: { 'idempotency-replayed': 'true' } });
    expect(((await get(server, '/api/jobs')) as { jobs: unknown[] }).jobs).toHaveLength(1);
    expect(await post(server, '/api/jobs', { queue: 'mail', data: 2 }, key)).toMatchObject({
      status: 422,
      json: { code: 'idempotency-key-reused' },
    });
    expect(await post(server, '/api/jobs', { queue: 'mail' }, { 'idempotency-key': 'a b' })).toMatchObject({
      status: 400,
    });
  });

  it('is found again under its key if the answer was not stored', async () => {
    const server = await startTrial();
    const key = { 'idempotency-key': 'order-7' };
    const first = await post(server, '/api/jobs', { queue: 'mail' }, key);
    const [record] = await server.store.records.list({ kind: 'idempotency', limit: 1 });
    await server.store.records.delete('idempotency', record?.key ?? '');
    const second = await post(server, '/api/jobs', { queue: 'mail' }, key);
    expect(second.json).toMatchObject({ id: (first.json as { id: string }).id, outcome: 'exists' });
  });
});

describe('an operation', () => {
  const start = async (options: object = {}) => {
    const server = await startTrial();
    await post(server, '/api/jobs', { queue: 'mail', id: 'a', data: { n: 1 }, ...options });
    return server;
  };

  it('sends an event to a job, and lists its steps', async () => {
    const server = await start();
    const answer = await post(server, '/api/jobs/a/notify', { name: 'approval', data: { by: 'anna' } });
    expect(answer).toMatchObject({ status: 200, json: { outcome: 'kept', job: { id: 'a', steps: { count: 1 } } } });
    expect((await server.ask('GET', '/api/jobs/a/steps')).json).toMatchObject({
      steps: [{ kind: 'event', name: 'approval', status: 'arrived', result: { by: 'anna' }, until: null }],
    });
    expect(await post(server, '/api/jobs/a/notify', { name: 'a#2' })).toMatchObject({ status: 400 });
    await post(server, '/api/jobs/a/cancel');
    expect(await post(server, '/api/jobs/a/notify', { name: 'approval' })).toMatchObject({
      status: 409,
      json: { code: 'wrong-state' },
    });
    const fresh = await post(server, '/api/jobs/a/requeue', { fresh: true });
    expect(fresh.json).toMatchObject({ state: 'waiting', steps: null });
  });

  it('cancels, requeues, moves and changes a job, and returns the changed job', async () => {
    const server = await start();
    const changed = await server.ask('PATCH', '/api/jobs/a', { body: { priority: 5, data: { n: 2 }, tags: ['x'] } });
    expect(changed.json).toMatchObject({ priority: 5, data: { n: 2 }, tags: ['x'] });
    expect((await post(server, '/api/jobs/a/move', { queue: 'other' })).json).toMatchObject({ queue: 'other' });
    expect((await post(server, '/api/jobs/a/cancel')).json).toMatchObject({
      outcome: 'cancelled',
      job: { state: 'cancelled' },
    });
    const again = await post(server, '/api/jobs/a/requeue', { queue: 'mail', delay: '1h' });
    expect(again.json).toMatchObject({ queue: 'mail', state: 'waiting', label: 'scheduled' });
    expect((await post(server, '/api/jobs/a/run-now')).json).toMatchObject({ label: 'ready' });
    expect(await server.ask('DELETE', '/api/jobs/a')).toMatchObject({ status: 204, text: '' });
    expect(await server.ask('GET', '/api/jobs/a')).toMatchObject({ status: 404, json: { code: 'not-found' } });
  });

  it('distinguishes requested from done for a running job', async () => {
    const server = await start();
    const { id, token } = await claimOne(server);
    expect((await post(server, '/api/jobs/a/cancel')).json).toMatchObject({
      outcome: 'asked',
      job: { label: 'cancelling' },
    });
    expect((await post(server, '/api/heartbeat', { id, token })).json).toMatchObject({ cancelAsked: true });
    expect((await post(server, '/api/settle', { id, token, kind: 'release' })).json).toMatchObject({
      state: 'cancelled',
    });
  });

  it('asks a running job to pause and to resume', async () => {
    const server = await start();
    const { id, token } = await claimOne(server);
    await post(server, '/api/jobs/a/pause');
    expect((await post(server, '/api/heartbeat', { id, token })).json).toMatchObject({ pauseAsked: true });
    await post(server, '/api/jobs/a/resume');
    expect((await post(server, '/api/heartbeat', { id, token })).json).toMatchObject({ pauseAsked: false });
  });

  it.each([
    ['cancel', {}, 'wrong-state'],
    ['pause', {}, 'wrong-state'],
    ['run-now', {}, 'wrong-state'],
    ['commit', {}, 'ok'],
    ['requeue', { attempt: 0 }, 'moved-on'],
  ])('%s of a done job is refused with a reason', async (action, body, code) => {
    const server = await start();
    const attempt = await claimOne(server);
    await post(server, '/api/settle', { ...attempt, data: undefined, kind: 'complete' });
    const answer = await post(server, `/api/jobs/a/${action}`, body);
    if (code === 'ok') return expect(answer.status).toBe(200);
    expect(answer).toMatchObject({ status: 409, json: { code, detail: expect.stringContaining('job a') as string } });
  });

  it('commits a draft', async () => {
    const server = await start({ draft: true });
    expect(await job(server, 'a')).toMatchObject({ state: 'draft' });
    expect((await post(server, '/api/jobs/a/commit')).json).toMatchObject({ state: 'waiting' });
  });

  it('duplicates a job with the given changes', async () => {
    const server = await start({ tags: ['x'], retries: 2, priority: 3, name: 'n', unique: 'k' });
    const copy = await post(server, '/api/jobs/a/duplicate', { id: 'b', priority: 1 });
    expect(copy).toMatchObject({ status: 201, json: { id: 'b', outcome: 'added' } });
    const same = { data: { n: 1 }, tags: ['x'], policy: { retries: 2 }, name: 'n', queue: 'mail' };
    expect(await job(server, 'b')).toMatchObject({ ...same, priority: 1, unique: null });
    const other = await post(server, '/api/jobs/a/duplicate', { queue: 'other', data: 5, retries: 7 });
    const { id } = other.json as { id: string };
    expect(await job(server, id)).toMatchObject({ queue: 'other', data: 5, policy: { retries: 7 } });
  });
});

describe('an attempt', () => {
  it('under a stale token is refused, as a single item and in a list', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', { queue: 'mail', id: 'a' });
    const { id, token } = await claimOne(server);
    const stale = { id, token: token + 1 };
    expect(await post(server, '/api/heartbeat', stale)).toMatchObject({ status: 409, json: { code: 'lease-lost' } });
    const { json } = await post(server, '/api/heartbeat', [stale, { id, token }]);
    expect(json).toMatchObject([{ ok: false, refusal: { code: 'lease-lost' } }, { ok: true }]);
    expect(await post(server, '/api/settle', { ...stale, kind: 'complete' })).toMatchObject({ status: 409 });
  });

  it('that failed uses the backoff of its queue, unless it gives a delay', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'mail', retries: 5, backoff: '1h' });
    await post(server, '/api/jobs', { queue: 'mail', id: 'a' });
    const { id, token } = await claimOne(server);
    const before = Date.now();
    await post(server, '/api/settle', { id, token, kind: 'fail', failure: { message: 'no route to host 17' } });
    const failed = await job(server, 'a');
    expect(failed).toMatchObject({ label: 'retrying', failures: 1 });
    expect(failed.runAt).toBeGreaterThanOrEqual(before + 3_600_000);
    await post(server, '/api/jobs/a/run-now');
    const again = await claimOne(server);
    await post(server, '/api/settle', { id, token: again.token, kind: 'fail', failure: { message: 'm' }, final: true });
    expect(await job(server, 'a')).toMatchObject({ state: 'failed', failure: { group: 'm', message: 'm' } });
  });

  it('is returned again for the same request id, and not claimed twice', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'a' },
      { queue: 'mail', id: 'b' },
    ]);
    const first = await claimOne(server, { requestId: 'r' });
    expect(await claimOne(server, { requestId: 'r' })).toEqual(first);
  });

  it('is returned as soon as a job arrives, if the claim waits', async () => {
    const server = await startTrial();
    const waiting = claimOne(server, { wait: '20s' });
    const others = post(server, '/api/claim', { worker: 'v', queues: ['other'], wait: '50ms' });
    expect((await others).json).toMatchObject({ jobs: [] });
    const addedAt = performance.now();
    await post(server, '/api/jobs', { queue: 'mail', id: 'a' });
    expect(await waiting).toMatchObject({ id: 'a' });
    expect(performance.now() - addedAt).toBeLessThan(15_000);
  });

  it('is not claimed for a caller that disconnected', async () => {
    const server = await startTrial();
    const body = JSON.stringify({ worker: 'w', queues: ['mail'], wait: '20s' });
    const gone = connect(server.port, '127.0.0.1');
    gone.write(`POST /api/claim HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`);
    gone.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
    await post(server, '/api/claim', { worker: 'v', queues: ['mail'], wait: '50ms' });
    gone.destroy();
    await once(gone, 'close');
    await post(server, '/api/claim', { worker: 'v', queues: ['mail'], wait: '50ms' });
    await post(server, '/api/jobs', { queue: 'mail', id: 'a' });
    expect(await claimOne(server, { worker: 'v' })).toMatchObject({ id: 'a' });
  });
});

describe('jobs that depend on others', () => {
  it('are added with their parents, shown with a reason, and returned as a graph from any of them', async () => {
    const server = await startTrial();
    const jobs = [
      { id: 'a' },
      { id: 'b' },
      { id: 'c', dependsOn: ['a', 'b'], onDependencyFailed: 'fail' },
      { id: 'd', dependsOn: ['c'] },
      { id: 'e', dependsOn: ['none'] },
    ].map((each) => ({ queue: 'mail', ...each }));
    const { json } = await post(server, '/api/jobs', jobs);
    expect(json).toMatchObject([{}, {}, {}, {}, { ok: false, refusal: { code: 'bad-dependency' } }]);
    expect(await job(server, 'c')).toMatchObject({ label: 'blocked', reason: 'waits for 2 of 2 jobs', dependents: 1 });
    const graph = (await get(server, '/api/jobs/c/graph')) as { nodes: JobView[]; edges: object[]; isWhole: boolean };
    expect(graph.nodes.map(({ id, label }) => `${id} ${label}`).sort()).toEqual([
      'a ready',
      'b ready',
      'c blocked',
      'd blocked',
    ]);
    expect(graph.edges).toHaveLength(3);
    expect(graph).toMatchObject({ isWhole: true, edges: expect.arrayContaining([{ parent: 'c', child: 'd' }]) });
    const part = (await get(server, '/api/jobs/d/graph?limit=2')) as { nodes: JobView[]; edges: object[] };
    expect(part).toMatchObject({
      nodes: [{ id: 'd' }, { id: 'c' }],
      edges: [{ parent: 'c', child: 'd' }],
      isWhole: false,
    });
    expect(await server.ask('GET', '/api/jobs/none/graph')).toMatchObject({ status: 404 });
  });

  it('can be changed, and are reported when a parent is cancelled', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'a' },
      { queue: 'mail', id: 'b', dependsOn: ['a'] },
    ]);
    await post(server, '/api/jobs', { queue: 'mail', id: 'c' });
    const changed = await server.ask('PATCH', '/api/jobs/c', { body: { dependsOn: { add: ['a'] } } });
    expect(changed).toMatchObject({ status: 200, json: { label: 'blocked' } });
    expect(await server.ask('PATCH', '/api/jobs/a', { body: { dependsOn: { add: ['c'] } } })).toMatchObject({
      status: 409,
      json: { code: 'bad-dependency', detail: expect.stringContaining('a cycle: c') },
    });
    expect(await post(server, '/api/jobs/a/cancel')).toMatchObject({
      status: 409,
      json: { code: 'has-dependents', dependents: 2 },
    });
    expect(await post(server, '/api/jobs/cancel', { ids: ['a'] })).toMatchObject({
      json: { ok: 0, refused: { 'has-dependents': 1 } },
    });
    expect(await post(server, '/api/jobs/cancel', { ids: ['a'], dependents: 'cancel' })).toMatchObject({
      json: { ok: 1 },
    });
    expect(await job(server, 'c')).toMatchObject({ state: 'cancelled' });
  });

  it('are created by a completion that advances to another queue', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'a' },
      { queue: 'other', id: 'b' },
    ]);
    const { id, token } = await claimOne(server);
    const next = { queue: 'second', delay: '1s', dependsOn: ['b'] };
    expect(await post(server, '/api/settle', { id, token, kind: 'complete', next })).toMatchObject({ status: 200 });
    expect(await job(server, 'a')).toMatchObject({ queue: 'second', label: 'blocked' });
  });
});
