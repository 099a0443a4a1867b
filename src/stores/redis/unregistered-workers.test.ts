/** What is kept of workers does not grow for ever. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { UNREGISTERED_WORKER_TTL_MS } from '../../core/settings/settings.ts';
import { openRedisStore } from './open-redis-store.ts';

const NOW = 1_700_000_000_000;

describeWithRedis('workers that were never registered', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function claimers(namespace: string): Promise<readonly string[]> {
    const client = createClient({ url: server.url });
    await client.connect();
    const fields = (await client.sendCommand(['HKEYS', `{${namespace}}j`])) as unknown as string[];
    client.destroy();
    return fields.filter((field) => field.startsWith('@')).sort();
  }

  // By the fast path of a claim, and by the general path.
  it.each([
    ['plain', {}],
    ['limited', { policy: { throttles: ['t'] } }],
  ])('are forgotten with what they claimed a year later, and no others (%s)', async (namespace, policy) => {
    const store = await openRedisStore({ url: server.url, namespace, clock: 'caller' });
    onTestFinished(() => store.close());
    const { jobs } = store;
    const claim = (worker: string, now: number) =>
      jobs.claim({ worker, queues: ['q'], limit: 1, requestId: `at ${now}` }, { now });
    await jobs.add(
      ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, queue: 'q', data: '{}', ...policy })),
      { now: NOW },
    );
    const beat = { host: 'h', pid: 1, queues: ['q'], leaseMs: 3 * UNREGISTERED_WORKER_TTL_MS, info: '{}' };
    await jobs.keepWorker({ ...beat, id: 'known', kind: 'register' }, { now: NOW });
    await claim('known', NOW);
    await claim('unregistered', NOW);
    await claim('busy', NOW);
    await claim('newcomer', NOW + 1);
    await claim('busy', NOW + 2);

    await jobs.maintain({ limit: 100 }, { now: NOW + UNREGISTERED_WORKER_TTL_MS - 1 });
    expect(await claimers(namespace)).toEqual(['@busy', '@known', '@newcomer', '@unregistered']);
    await jobs.maintain({ limit: 100 }, { now: NOW + UNREGISTERED_WORKER_TTL_MS });
    expect(await claimers(namespace)).toEqual(['@busy', '@known', '@newcomer']);
    await jobs.maintain({ limit: 100 }, { now: NOW + UNREGISTERED_WORKER_TTL_MS + 1 });
    expect(await claimers(namespace)).toEqual(['@busy', '@known']);
    await jobs.maintain({ limit: 100 }, { now: NOW + UNREGISTERED_WORKER_TTL_MS + 2 });
    expect(await claimers(namespace)).toEqual(['@known']);
    await jobs.maintain({ limit: 100 }, { now: NOW + 2 * UNREGISTERED_WORKER_TTL_MS + 2 });
    expect(await claimers(namespace)).toEqual(['@known']);
  });
});
