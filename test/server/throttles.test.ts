/** Throttles over HTTP: limits, holders of slots, and the wait reason of a throttled job. */
import { expect, it } from 'vitest';
import { startTrial } from './trial-server.ts';

it('throttles are set, listed and removed, and a job names the throttle it waits for', async () => {
  const server = await startTrial();
  const put = (max: unknown) => server.ask('PUT', '/api/throttles/db', { body: { max } });
  expect(await put(1)).toMatchObject({ status: 200, json: { name: 'db', max: 1 } });
  const jobs = ['a', 'b'].map((id) => ({ queue: 'mail', id, throttles: ['db'] }));
  await server.ask('POST', '/api/jobs', { body: jobs });
  await server.ask('POST', '/api/claim', { body: { worker: 'w', queues: ['mail'], limit: 5 } });
  expect((await server.ask('GET', '/api/throttles')).json).toEqual({
    throttles: [
      {
        name: 'db',
        queue: null,
        key: null,
        max: 1,
        held: 1,
        waiting: 1,
        nextStartAt: null,
        holders: ['a'],
        rate: null,
        by: [],
        cost: null,
      },
    ],
  });
  const job = await server.ask('GET', '/api/jobs/b');
  expect(job.json).toMatchObject({ label: 'throttled', reason: '1 of 1 running for throttle db' });
  expect(await put(0)).toMatchObject({ status: 400, json: { problems: [{ path: 'max' }] } });
  expect(await server.ask('DELETE', '/api/throttles/db')).toMatchObject({ json: { name: 'db', max: null } });
  expect((await server.ask('GET', '/api/jobs/b')).json).toMatchObject({ label: 'ready' });
});

it('a throttle has a rate by key, a job that waits for it names the next start, and a retry pauses it', async () => {
  const server = await startTrial();
  const put = (body: unknown) => server.ask('PUT', '/api/throttles/api', { body });
  const set = await put({ rate: '1/1h', by: 'model', cost: 'n' });
  const rate = { count: 1, ms: 3_600_000 };
  expect(set).toMatchObject({ status: 200, json: { name: 'api', max: null, rate, by: ['model'], cost: 'n' } });
  const jobs = ['a', 'b'].map((id) => ({ queue: 'mail', id, throttles: ['api'], data: { model: 'm' } }));
  await server.ask('POST', '/api/jobs', { body: jobs });
  const claimed = await server.ask('POST', '/api/claim', { body: { worker: 'w', queues: ['mail'], limit: 5 } });
  const [{ lease }] = (claimed.json as { jobs: readonly [{ lease: { token: number } }] }).jobs;
  const listed = await server.ask('GET', '/api/throttles');
  expect(listed.json).toMatchObject({
    throttles: [
      { name: 'api', key: null, held: 1, nextStartAt: null },
      { name: 'api', key: 'm', waiting: 1, rate, by: ['model'], cost: 'n' },
    ],
  });
  const reason = expect.stringMatching(/^throttle api for key m allows the next start at /);
  expect((await server.ask('GET', '/api/jobs/b')).json).toMatchObject({ label: 'throttled', reason });
  const failure = { message: 'too many requests' };
  const settlement = { id: 'a', token: lease.token, kind: 'retry', failure, delay: '2h', throttle: 'api' };
  expect(await server.ask('POST', '/api/settle', { body: settlement })).toMatchObject({ status: 200 });
  const { throttles } = (await server.ask('GET', '/api/throttles')).json as { throttles: { nextStartAt: number }[] };
  expect(Math.max(...throttles.map(({ nextStartAt }) => nextStartAt))).toBeGreaterThan(Date.now() + 7_000_000);
  for (const bad of [{ rate: '60' }, { rate: '60/1m', speed: 1 }, { by: 'model' }, { rate: '1/1m', cost: '' }, {}])
    expect(await put(bad)).toMatchObject({ status: 400 });
  expect((await server.ask('GET', '/api/throttles')).json).toEqual({ throttles });
});
