/** A store that is told of its primary by a Sentinel. What happens when a primary dies is in test/faults/failover.ts. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { openRedisStore, type RedisStore } from './open-redis-store.ts';

describeWithRedis('a store behind a Sentinel', () => {
  let [first, second, sentinel]: RedisServer[] = [];
  const portOf = (server: RedisServer | undefined): number => server?.port ?? 0;
  beforeAll(async () => {
    [first, second] = await Promise.all([startRedis(), startRedis()]);
    sentinel = await startRedis({ sentinel: { 'sentinel monitor main': `127.0.0.1 ${portOf(first)} 1` } });
  });
  afterAll(async () => {
    for (const server of [first, second, sentinel]) await server?.stop();
  });

  async function open(name: string): Promise<RedisStore> {
    const url = `redis+sentinel://127.0.0.1:1,127.0.0.1:${portOf(sentinel)}/${name}`;
    const store = await openRedisStore({ url });
    onTestFinished(() => store.close());
    return store;
  }

  it('says that no Sentinel knows the name', async () => {
    await expect(open('unknown')).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining('none knows a primary called unknown') as string,
    });
  });

  it('leaves a primary that lives on but is called so no longer', { timeout: 30_000 }, async () => {
    const store = await open('main');
    await store.jobs.add([{ id: 'a', queue: 'q', data: '{}' }]);
    expect(await store.jobs.find(['a'])).toMatchObject([{ id: 'a' }]);
    await ask(portOf(sentinel), 'SENTINEL REMOVE main');
    await ask(portOf(sentinel), `SENTINEL MONITOR main 127.0.0.1 ${portOf(second)} 1`);
    await expect.poll(() => store.jobs.find(['a']).catch(() => null), { timeout: 20_000 }).toEqual([null]);
    expect(await ask(portOf(second), 'EXISTS {longhaul}')).toBe('1');
  });
});
