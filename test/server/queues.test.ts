/** Queues, lists, bulk calls, failure groups and workers over HTTP. */
import { describe, expect, it } from 'vitest';
import { startTrial, type TrialServer } from './trial-server.ts';

const post = async (server: TrialServer, path: string, body: unknown = {}) => server.ask('POST', path, { body });
const get = async (server: TrialServer, path: string) => (await server.ask('GET', path)).json as never;

async function addMany(server: TrialServer, count: number, more: object = {}): Promise<void> {
  const jobs = Array.from({ length: count }, (_, place) => ({ queue: 'mail', id: `j${place}`, ...more }));
  await post(server, '/api/jobs', jobs);
}

async function failAll(server: TrialServer, message: string): Promise<void> {
  const { json } = await post(server, '/api/claim', { worker: 'w', queues: ['mail'], limit: 500 });
  const { jobs } = json as { jobs: { id: string; lease: { token: number } }[] };
  const said = jobs.map(({ id, lease }) => ({ id, token: lease.token, kind: 'fail', failure: { message } }));
  await post(server, '/api/settle', said);
}

describe('a queue', () => {
  it('is created, changed, paused, disabled, enabled and deleted', async () => {
    const server = await startTrial();
    const made = await post(server, '/api/queues', { name: 'mail', concurrency: 4, lease: '2m' });
    expect(made).toMatchObject({ status: 201, json: { name: 'mail', settings: { concurrency: 4, leaseMs: 120_000 } } });
    const changed = await server.ask('PATCH', '/api/queues/mail', { body: { retries: 3 } });
    expect(changed.json).toMatchObject({ settings: { concurrency: 4, retries: 3 } });
    expect((await post(server, '/api/queues/mail/pause', { note: 'maintenance' })).json).toMatchObject({
      settings: { state: 'paused', note: 'maintenance' },
    });
    expect((await post(server, '/api/queues/mail/down')).json).toMatchObject({
      settings: { state: 'down', note: null },
    });
    expect(await post(server, '/api/jobs', { queue: 'mail' })).toMatchObject({
      status: 503,
      headers: { 'retry-after': '5' },
      json: { code: 'queue-down' },
    });
    expect((await post(server, '/api/queues/mail/up')).json).toMatchObject({ settings: { state: 'up' } });
    expect(await server.ask('DELETE', '/api/queues/mail')).toMatchObject({ status: 204 });
    expect(await server.ask('GET', '/api/queues/mail')).toMatchObject({ status: 404, json: { code: 'not-found' } });
  });

  it('that is deleted with its jobs accepts none until it is created again', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'mail', concurrency: 4 });
    await post(server, '/api/jobs', { queue: 'mail' });
    expect(await server.ask('DELETE', '/api/queues/mail')).toMatchObject({ status: 409 });
    expect(await server.ask('DELETE', '/api/queues/mail?jobs=true')).toMatchObject({ status: 204 });
    expect(await server.ask('GET', '/api/queues/mail')).toMatchObject({ status: 404 });
    expect((await server.ask('GET', '/api/queues')).json).toEqual({ queues: [] });
    expect(await post(server, '/api/jobs', { queue: 'mail' })).toMatchObject({
      status: 409,
      json: { code: 'queue-deleted', detail: 'queue mail was deleted and accepts no jobs: create it again first' },
    });
    expect(await post(server, '/api/queues', { name: 'mail' })).toMatchObject({
      status: 201,
      json: { settings: { state: 'up', concurrency: 1 } },
    });
    expect(await post(server, '/api/jobs', { queue: 'mail' })).toMatchObject({ status: 201 });
  });

  it('is not created twice', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'mail' });
    expect(await post(server, '/api/queues', { name: 'mail' })).toMatchObject({
      status: 409,
      json: { detail: 'queue mail already exists: use PATCH to change it' },
    });
  });

  it('is created once under an Idempotency-Key, however often the request is repeated', async () => {
    const server = await startTrial();
    const ask = () =>
      server.ask('POST', '/api/queues', { body: { name: 'mail' }, headers: { 'idempotency-key': 'k' } });
    expect([(await ask()).status, (await ask()).status]).toEqual([201, 201]);
  });

  it('is refused with every problem of its settings', async () => {
    const server = await startTrial();
    const body = {
      name: 'a/b',
      concurrency: 0,
      lease: 'long',
      retention: { done: { for: -1 } },
      concurency: 1,
      umask: 9,
    };
    const { json, status } = await post(server, '/api/queues', body);
    expect(status).toBe(400);
    const { problems } = json as { problems: { path: string }[] };
    expect(problems.map(({ path }) => path)).toEqual([
      'name',
      'concurrency',
      'lease',
      'retention.done.for',
      'concurency',
      'umask',
    ]);
  });

  it('lets only admins change its code, and shows its secrets to no caller', async () => {
    const server = await startTrial();
    const code = { script: '/bin/true', env: { KEY: 'canary' } };
    expect(await post(server, '/api/queues', { name: 'mail', ...code })).toMatchObject({ status: 403 });
    const body = { name: 'mail', ...code };
    const made = await server.ask('POST', '/api/queues', { over: 'socket', body });
    expect(made).toMatchObject({ status: 201, json: { settings: { script: '/bin/true', env: ['KEY'] } } });
    expect(made.text).not.toContain('canary');
    expect(await server.ask('PATCH', '/api/queues/mail', { body: { user: 'root' } })).toMatchObject({ status: 403 });
    expect(await server.ask('DELETE', '/api/queues/mail')).toMatchObject({ status: 403 });
    const harmless = await server.ask('PATCH', '/api/queues/mail', { body: { retries: 1, script: '/bin/true' } });
    expect(harmless.status).toBe(200);
    const record = await server.store.records.get('queue', 'mail');
    expect(JSON.parse(record?.value ?? '')).toMatchObject({ ...code, retries: 1 });
  });

  it('keeps its secrets when a caller that cannot see them writes the settings back through the port', async () => {
    const server = await startTrial();
    await server.ask('POST', '/api/queues', { over: 'socket', body: { name: 'mail', env: { KEY: 'canary' } } });
    const argument = { kind: 'queue', key: 'mail' };
    const seen = await post(server, '/api/store/records/get', { argument });
    expect(seen.text).not.toContain('canary');
    const put = (value: object) =>
      post(server, '/api/store/records/put', { argument: { ...argument, value: JSON.stringify(value) } });
    expect(await put({ retries: 2 })).toMatchObject({ json: { ok: true } });
    const record = await server.store.records.get('queue', 'mail');
    expect(JSON.parse(record?.value ?? '')).toEqual({ env: { KEY: 'canary' }, retries: 2 });
    expect(await put({ script: '/bin/sh' })).toMatchObject({ status: 403 });
    expect(await put({ env: {} })).toMatchObject({ status: 403 });
    expect(await post(server, '/api/store/records/get', { argument: { kind: 'token', key: 'x' } })).toMatchObject({
      status: 403,
    });
  });

  it('with jobs is deleted with them on request, but never while one runs', async () => {
    const server = await startTrial();
    await addMany(server, 3);
    expect(await server.ask('DELETE', '/api/queues/mail')).toMatchObject({
      status: 409,
      json: { detail: 'queue mail has 3 jobs: use jobs=true to delete them too' },
    });
    await post(server, '/api/claim', { worker: 'w', queues: ['mail'] });
    expect(await server.ask('DELETE', '/api/queues/mail?jobs=true')).toMatchObject({ status: 409 });
    await failAll(server, 'm');
    const { jobs } = (await get(server, '/api/jobs?state=running')) as {
      jobs: { id: string; lease: { token: number } }[];
    };
    for (const { id, lease } of jobs) await post(server, '/api/settle', { id, token: lease.token, kind: 'complete' });
    expect(await server.ask('DELETE', '/api/queues/mail?jobs=true')).toMatchObject({ status: 204 });
    expect(await get(server, '/api/queues')).toEqual({ queues: [] });
  });
});

describe('a list', () => {
  it('is returned in pages with a cursor', async () => {
    const server = await startTrial();
    await addMany(server, 25);
    const seen: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const path: string = `/api/jobs?limit=10&queue=mail${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
      const page = (await get(server, path)) as { jobs: { id: string }[]; next: string | null };
      seen.push(...page.jobs.map(({ id }) => id));
      after = page.next;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, place) => `j${24 - place}`));
  });

  it('is limited to 500 items, and rejects invalid parameters', async () => {
    const server = await startTrial();
    await addMany(server, 600);
    expect(((await get(server, '/api/jobs?limit=1000000000')) as { jobs: unknown[] }).jobs).toHaveLength(500);
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=x',
      'limit=1&limit=2',
      'state=gone',
      'since=soon',
      'order=best',
    ]) {
      expect(await server.ask('GET', `/api/jobs?${query}`)).toMatchObject({
        status: 400,
        json: { problems: [{ path: query.split('=')[0] }] },
      });
    }
  });

  it('is filtered and counted', async () => {
    const server = await startTrial();
    await addMany(server, 3, { tags: ['x'] });
    await post(server, '/api/jobs', { queue: 'other', id: 'late', delay: '1h' });
    const ids = async (query: string) =>
      ((await get(server, `/api/jobs?${query}`)) as { jobs: { id: string }[] }).jobs.map(({ id }) => id);
    expect(await ids('tag=x&limit=2')).toEqual(['j2', 'j1']);
    expect(await ids('queue=mail&order=claim')).toEqual(['j0', 'j1', 'j2']);
    expect(await ids('label=scheduled')).toEqual(['late']);
    expect(await ids(`since=${Date.now() + 60_000}`)).toEqual([]);
    expect(await ids('before=2020-01-01T00:00:00Z')).toEqual([]);
    expect(await get(server, '/api/jobs/count?queue=other')).toMatchObject({ queues: [{ waiting: 1, scheduled: 1 }] });
  });
});

describe('a bulk call', () => {
  it('selects jobs by text of the id, name, tag, failure or data, and counts them beforehand', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'needle-1' },
      { queue: 'mail', id: 'a', name: 'A Needle' },
      { queue: 'mail', id: 'b', tags: ['needles'], dependsOn: ['a'] },
      { queue: 'mail', id: 'c', data: { deep: [{ word: 'the needle' }] } },
      { queue: 'mail', id: 'd', data: 'hay' },
    ]);
    await post(server, '/api/jobs', { queue: 'other', id: 'needle-2' });
    const idsOf = ({ jobs }: { jobs: { id: string }[] }) => jobs.map(({ id }) => id);
    const all = '/api/jobs?queue=mail&text=NEEDLE';
    expect(idsOf(await get(server, all))).toEqual(['c', 'b', 'a', 'needle-1']);
    const first = await get(server, `${all}&limit=3`);
    expect(idsOf(first)).toEqual(['c', 'b', 'a']);
    expect(idsOf(await get(server, `${all}&limit=3&after=${(first as { next: string }).next}`))).toEqual(['needle-1']);
    expect(await get(server, '/api/jobs/matching?queue=mail&text=needle')).toEqual({
      count: 4,
      awaited: 1,
      more: false,
    });
    const query = { queue: 'mail', text: 'needle' };
    expect((await post(server, '/api/jobs/cancel', { query, dependents: 'leave' })).json).toMatchObject({ ok: 4 });
    expect(await get(server, '/api/jobs/matching?queue=mail&state=waiting')).toMatchObject({ count: 1 });
  });

  it('cancels, requeues and deletes by ids and by query, and returns counts', async () => {
    const server = await startTrial();
    await addMany(server, 700, { tags: ['x'] });
    const some = await post(server, '/api/jobs/cancel', { ids: ['j0', 'nobody'] });
    expect(some.json).toEqual({ ok: 1, refused: { 'not-found': 1 }, more: false });
    const all = await post(server, '/api/jobs/cancel', { query: { tag: 'x', state: 'waiting' } });
    expect(all.json).toEqual({ ok: 699, refused: {}, more: false });
    const back = await post(server, '/api/jobs/requeue', {
      query: { state: 'cancelled' },
      queue: 'other',
      delay: '1h',
    });
    expect(back.json).toMatchObject({ ok: 700 });
    expect(await get(server, '/api/jobs/count?queue=other')).toMatchObject({
      queues: [{ waiting: 700, scheduled: 700 }],
    });
    expect((await post(server, '/api/jobs/delete', { query: { queue: 'other' } })).json).toMatchObject({ ok: 700 });
  });

  it.each([{}, { query: {} }, { ids: ['a'], query: { queue: 'q' } }])('rejects the selection %o', async (body) => {
    const server = await startTrial();
    expect(await post(server, '/api/jobs/delete', body)).toMatchObject({ status: 400 });
  });

  it('requeues or deletes a whole failure group', async () => {
    const server = await startTrial();
    await addMany(server, 3);
    await failAll(server, 'disk 7 full');
    const { groups } = (await get(server, '/api/failures')) as { groups: { group: string; count: number }[] };
    expect(groups).toMatchObject([{ queue: 'mail', group: 'disk * full', count: 3 }]);
    const group = { queue: 'mail', group: 'disk * full' };
    expect((await post(server, '/api/failures/requeue', group)).json).toMatchObject({ ok: 3 });
    await failAll(server, 'disk 8 full');
    expect((await post(server, '/api/failures/delete', group)).json).toMatchObject({ ok: 3 });
    expect(await get(server, '/api/failures?queue=mail')).toEqual({ groups: [] });
  });
});

describe('a worker', () => {
  it('is listed with its jobs, and declared dead', async () => {
    const server = await startTrial();
    await addMany(server, 1);
    const beat = {
      id: 'w',
      host: 'here',
      pid: 7,
      queues: ['mail'],
      leaseMs: 60_000,
      info: '{"a":1}',
      kind: 'register',
    };
    await post(server, '/api/store/keepWorker', { argument: beat });
    await post(server, '/api/claim', { worker: 'w', queues: ['mail'] });
    expect(await get(server, '/api/workers')).toMatchObject({
      workers: [{ id: 'w', info: { a: 1 }, running: ['j0'] }],
    });
    expect((await post(server, '/api/workers/w/fail')).json).toEqual({ returned: 1 });
    expect(await get(server, '/api/jobs/j0')).toMatchObject({ state: 'waiting', crashes: 1 });
  });
});
