/** Statistics, trends, tags, search, tracked jobs and explained settings over HTTP. */
import { describe, expect, it } from 'vitest';
import { SETTING_DESCRIPTIONS } from '../../src/core/settings/setting-descriptions.ts';
import type { DayStatistics } from '../../src/core/statistics/statistics.ts';
import { startTrial, type TrialServer } from './trial-server.ts';

const post = async (server: TrialServer, path: string, body: unknown = {}) => server.ask('POST', path, { body });
const get = async (server: TrialServer, path: string) => (await server.ask('GET', path)).json as never;

async function settleAll(server: TrialServer, said: object, queue = 'mail'): Promise<void> {
  const { json } = await post(server, '/api/claim', { worker: 'w', queues: [queue], limit: 500 });
  const { jobs } = json as { jobs: { id: string; lease: { token: number } }[] };
  await post(
    server,
    '/api/settle',
    jobs.map(({ id, lease }) => ({ id, token: lease.token, ...said })),
  );
}

describe('statistics', () => {
  it('are grouped by queue, tag and worker, and reject an unknown grouping', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'a', tags: ['big'] },
      { queue: 'mail', id: 'b' },
    ]);
    await settleAll(server, { kind: 'complete' });
    const ask = async (query = '') =>
      ((await get(server, `/api/statistics${query}`)) as { days: DayStatistics[] }).days;
    expect(await ask()).toMatchObject([{ queue: 'mail', of: '', wait: { count: 2 }, run: { count: 2 }, failures: 0 }]);
    expect(await ask('?by=tag&queue=mail')).toMatchObject([{ of: 'big', run: { count: 1 } }]);
    expect(await ask('?by=worker')).toMatchObject([{ of: 'w', run: { count: 2 } }]);
    expect(await ask('?to=2001-01-01')).toEqual([]);
    expect(await server.ask('GET', '/api/statistics?by=hour')).toMatchObject({ status: 400 });
    expect(await server.ask('GET', '/api/statistics?from=yesterday')).toMatchObject({ status: 400 });
  });

  it('keep the trend of a failure group after its jobs were deleted', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', { queue: 'mail', id: 'a' });
    await settleAll(server, { kind: 'fail', failure: { message: 'disk 7 full' } });
    await server.ask('DELETE', '/api/jobs/a');
    expect(await get(server, '/api/failures')).toEqual({ groups: [] });
    expect(await get(server, '/api/failures?past=true')).toMatchObject({
      groups: [{ group: 'disk * full', count: 0, sampleId: null, trend: { days: [{ failures: 1, retries: 0 }] } }],
    });
  });
});

describe('storage', () => {
  it('is returned for each queue in counts and bytes', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', { queue: 'mail', id: 'a', data: 'four' });
    await settleAll(server, { kind: 'complete', result: 17 });
    const none = { count: 0, bytes: 0 };
    const mail = { done: { count: 1, bytes: 8 }, results: { count: 1, bytes: 2 }, failed: none, cancelled: none };
    expect(await get(server, '/api/storage')).toMatchObject({ queues: [{ queue: 'mail', ...mail }] });
    expect(await get(server, '/api/storage?queue=other')).toMatchObject({ queues: [{ queue: 'other', done: none }] });
  });
});

describe('finding jobs', () => {
  it('searches id, id prefix, tag, name and declared fields, and returns each job once', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'mail', search: ['to', 'order.id'] });
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'red', tags: ['reddish'] },
      { queue: 'mail', id: 'a', tags: ['red'], name: 'red' },
      { queue: 'mail', id: 'b', name: 'red' },
      { queue: 'mail', id: 'red-2', data: { secret: 'blue' } },
      { queue: 'mail', id: 'c', data: { to: 'Fred', order: { id: 17 } } },
      { queue: 'other', id: 'd', data: { to: 'Fred' } },
    ]);
    const found = async (query: string) => {
      const page = (await get(server, `/api/search?${query}`)) as { jobs: { id: string }[]; next: string | null };
      return page.jobs.map(({ id }) => id);
    };
    expect(await found('q=red')).toEqual(['red', 'a', 'b', 'c', 'red-2']);
    expect(await found('q=17')).toEqual(['c']);
    expect(await found('q=blue')).toEqual([]);
    expect(await found('q=Fred&queue=other')).toEqual([]);
    const paged: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const query: string = after === '' ? '' : `&after=${after}`;
      const page = (await get(server, `/api/search?q=red&limit=1${query}`)) as {
        jobs: { id: string }[];
        next: string | null;
      };
      expect(page.jobs.length).toBeLessThanOrEqual(1);
      paged.push(...page.jobs.map(({ id }) => id));
      after = page.next;
    }
    expect(paged).toEqual(['red', 'a', 'b', 'c', 'red-2']);
  });

  it('lists the most frequent tags, and the tracked jobs', async () => {
    const server = await startTrial();
    await post(server, '/api/jobs', [
      { queue: 'mail', id: 'a', tags: ['x', 'y'] },
      { queue: 'mail', id: 'b', tags: ['y'] },
    ]);
    expect(await get(server, '/api/tags')).toEqual({
      tags: [
        { tag: 'y', jobs: 2 },
        { tag: 'x', jobs: 1 },
      ],
    });
    expect(await post(server, '/api/jobs/a/track')).toMatchObject({ status: 200, json: { id: 'a' } });
    expect(await post(server, '/api/jobs/none/track')).toMatchObject({ status: 404 });
    expect(await get(server, '/api/tracked')).toMatchObject({ jobs: [{ id: 'a', job: { state: 'waiting' } }] });
    await server.ask('DELETE', '/api/jobs/a');
    expect(await get(server, '/api/tracked')).toMatchObject({ jobs: [{ id: 'a', job: null }] });
    expect(await post(server, '/api/jobs/a/untrack')).toMatchObject({ status: 204 });
    expect(await get(server, '/api/tracked')).toEqual({ jobs: [] });
  });
});

it('throughput is returned by minute and by hour, and in the rows of the overview', async () => {
  const server = await startTrial();
  await post(server, '/api/jobs', [
    { queue: 'mail', id: 'a' },
    { queue: 'mail', id: 'b' },
  ]);
  await settleAll(server, { kind: 'complete' });
  const { now, points } = (await get(server, '/api/throughput?queue=mail')) as { now: number; points: object[] };
  expect(points).toEqual([{ queue: 'mail', at: expect.any(Number), done: 2, failed: 0 }]);
  expect(now).toEqual(expect.any(Number));
  expect(await get(server, '/api/throughput?span=hour')).toMatchObject({ span: 'hour', points: [{ done: 2 }] });
  const { minutes, doneToday, queues } = (await get(server, '/api/overview')) as {
    minutes: number[];
    doneToday: number;
    queues: { minutes: number[] }[];
  };
  for (const line of [minutes, queues[0]?.minutes ?? []]) {
    expect(line).toHaveLength(60);
    expect(line.reduce((sum, each) => sum + each, 0)).toBe(2);
  }
  expect(doneToday).toBe(2);
  expect(await server.ask('GET', '/api/throughput?span=week')).toMatchObject({ status: 400 });
});

it('the overview measures the wait of the next job from the time it became ready', async () => {
  const server = await startTrial();
  await post(server, '/api/jobs', { queue: 'prep', id: 'first' });
  await post(server, '/api/jobs', { queue: 'mail', id: 'second', dependsOn: ['first'] });
  await settleAll(server, { kind: 'complete' }, 'prep');
  const { freedAt } = (await get(server, '/api/jobs/second')) as { freedAt: number };
  const { queues } = (await get(server, '/api/overview')) as { queues: { name: string; oldestWaitAt: number }[] };
  expect(queues.find(({ name }) => name === 'mail')).toMatchObject({ oldestWaitAt: freedAt });
});

it('the settings of queues are listed with their meaning and default', async () => {
  const { settings } = (await get(await startTrial(), '/api/settings')) as {
    settings: { name: string; default: unknown }[];
  };
  expect(settings.map(({ name }) => name)).toEqual(Object.keys(SETTING_DESCRIPTIONS));
  expect(settings.find(({ name }) => name === 'lease')).toMatchObject({ default: 60_000 });
  expect(settings.find(({ name }) => name === 'statsDays')).toMatchObject({ default: 30 });
});

describe('the settings for all queues', () => {
  const settings = async (server: TrialServer) =>
    ((await get(server, '/api/settings')) as { settings: { name: string; value: unknown; from: string }[] }).settings;
  const change = (server: TrialServer, body: unknown) => server.ask('PATCH', '/api/settings', { body });

  it('are set, inherited by queues that report the source of each setting, and reset', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'mail', retries: 1, lease: '2m' });
    expect(await change(server, { retries: 5, lease: '30s', grace: '1m' })).toMatchObject({ status: 200 });
    expect((await settings(server)).find(({ name }) => name === 'grace')).toMatchObject({
      key: 'graceMs',
      value: 60_000,
      default: 10_000,
      from: 'global',
      alone: null,
    });
    expect(await get(server, '/api/queues/mail')).toMatchObject({
      settings: { retries: 1, leaseMs: 120_000, graceMs: 60_000, maxCrashes: 5 },
      from: { retries: 'queue', grace: 'global', maxCrashes: 'default' },
    });
    const unset = await server.ask('DELETE', '/api/queues/mail/settings/retries');
    expect(unset.json).toMatchObject({ settings: { retries: 5 }, from: { retries: 'global' } });
    await server.ask('DELETE', '/api/settings/retries');
    expect(await get(server, '/api/queues/mail')).toMatchObject({ settings: { retries: 0 } });
    expect((await get(server, '/api/queues')) as object).toMatchObject({ queues: [{ name: 'mail' }] });
  });

  it('refuse settings of a single queue, settings that conflict with a queue, and unknown settings', async () => {
    const server = await startTrial();
    await post(server, '/api/queues', { name: 'mail', retention: { done: { for: '2m' } } });
    const own = { script: '/bin/true', state: 'paused', keys: { by: 'a' }, search: ['b'] };
    const answer = await server.ask('PATCH', '/api/settings', { over: 'socket', body: own });
    expect(answer).toMatchObject({ status: 400 });
    const { problems } = answer.json as { problems: { path: string; message: string }[] };
    expect(problems.map(({ path }) => path).sort()).toEqual(['keys', 'script', 'search', 'state']);
    expect(problems.find(({ path }) => path === 'script')?.message).toBe(
      'cannot be set for all queues: a script belongs to one queue',
    );
    const unsuited = await change(server, { lease: '5m', heartbeat: '1m' });
    expect(unsuited).toMatchObject({ status: 400, json: { detail: expect.stringContaining('queue mail') } });
    expect(await server.ask('DELETE', '/api/settings/retrys')).toMatchObject({ status: 400 });
    expect((await settings(server)).every(({ from }) => from === 'default')).toBe(true);
  });

  it('let only admins change which code runs, and show only the names of the environment', async () => {
    const server = await startTrial();
    expect(await change(server, { env: { SECRET: 'x' } })).toMatchObject({ status: 403 });
    const asAdmin = await server.ask('PATCH', '/api/settings', { over: 'socket', body: { env: { SECRET: 'x' } } });
    expect(asAdmin).toMatchObject({ status: 200 });
    expect((await settings(server)).find(({ name }) => name === 'env')).toMatchObject({ value: ['SECRET'] });
    expect(await server.ask('DELETE', '/api/settings/env')).toMatchObject({ status: 403 });
  });
});
