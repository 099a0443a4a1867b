/** Data that was changed behind the store's back: it is noticed, and never handed out. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { openRedisStore } from './open-redis-store.ts';

const LONG = JSON.stringify('x'.repeat(3_000));

describeWithRedis('damaged data', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  /** One bit of one character of the data, as a disk or a cable would do it. */
  async function flip(key: string, field: string, text: string): Promise<void> {
    const client = createClient({ url: server.url });
    await client.connect();
    const stored = (await client.sendCommand(['HGET', key, field])) as unknown as string;
    expect(stored).toContain(text);
    await client.sendCommand(['HSET', key, field, stored.replace(text, text.replace('x', 'y'))]);
    client.destroy();
  }

  it.each([
    ['short', '"xx"', 'j', 'bad'],
    ['long', LONG, 'big', 'dbad'],
  ])(
    'that is %s is found by find and list, and fails the job at its claim without keeping back the others',
    async (namespace, data, hash, field) => {
      const store = await openRedisStore({ url: server.url, namespace });
      onTestFinished(() => store.close());
      await store.jobs.add([
        { id: 'good', queue: 'q', data },
        { id: 'bad', queue: 'q', data },
      ]);
      await flip(`{${namespace}}${hash}`, field, 'xx');
      await expect(store.jobs.find(['bad'])).rejects.toMatchObject({ code: 'data-corrupt' });
      await expect(store.jobs.list({ order: 'newest', limit: 10 })).rejects.toMatchObject({ code: 'data-corrupt' });
      const { jobs } = await store.jobs.claim({ worker: 'w', queues: ['q'], limit: 10, requestId: 'r' });
      expect(jobs.map(({ id }) => id)).toEqual(['good']);
      expect(await store.jobs.insight({ kind: 'failures', queue: 'q' })).toMatchObject([
        { group: 'data-corrupt', count: 1, sampleId: 'bad' },
      ]);
    },
  );

  it('a key that Longhaul did not write: the call says so, and is not taken for one whose answer was lost', async () => {
    const store = await openRedisStore({ url: server.url, namespace: 'foreign' });
    onTestFinished(() => store.close());
    const client = createClient({ url: server.url });
    await client.connect();
    await client.set('{foreign}j', 'something else');
    client.destroy();
    const wrong = { code: 'data-corrupt', message: expect.stringContaining('not what Longhaul wrote') as string };
    await expect(store.jobs.add([{ id: 'a', queue: 'q', data: '{}' }])).rejects.toMatchObject(wrong);
    await expect(store.jobs.find(['a'])).rejects.toMatchObject(wrong);
  });

  it('an index without a job that a call cut short: the next claim has it repaired', async () => {
    const store = await openRedisStore({ url: server.url, namespace: 'cut' });
    onTestFinished(() => store.close());
    await store.jobs.add([{ id: 'a', queue: 'q', data: '{}', priority: 1 }]);
    const client = createClient({ url: server.url });
    await client.connect();
    expect(await client.del('{cut}ready:q')).toBe(1);
    await client.hSet('{cut}', 'open', '1\x1e');
    const { jobs } = await store.jobs.claim({ worker: 'w', queues: ['q'], limit: 10, requestId: 'r' });
    expect(jobs.map(({ id }) => id)).toEqual(['a']);
    expect(await client.hGet('{cut}', 'open')).toBe('');
    client.destroy();
  });
});
