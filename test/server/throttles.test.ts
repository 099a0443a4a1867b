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
    throttles: [{ name: 'db', queue: null, key: null, max: 1, held: 1, waiting: 1, holders: ['a'] }],
  });
  const job = await server.ask('GET', '/api/jobs/b');
  expect(job.json).toMatchObject({ label: 'throttled', reason: '1 of 1 running for throttle db' });
  expect(await put(0)).toMatchObject({ status: 400, json: { problems: [{ path: 'max' }] } });
  expect(await server.ask('DELETE', '/api/throttles/db')).toMatchObject({ json: { name: 'db', max: null } });
  expect((await server.ask('GET', '/api/jobs/b')).json).toMatchObject({ label: 'ready' });
});
