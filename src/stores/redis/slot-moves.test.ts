/** A cluster that hands the slot of a namespace to another node, key by key: away meanwhile, whole afterwards. */
import { createClient } from '@redis/client';
import { expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { openRedisStore } from './open-redis-store.ts';

const aJob = (id: string) => ({ id, queue: 'q', data: '{}' });

async function aNode(cluster: true | 'bare'): Promise<RedisServer> {
  const server = await startRedis({ cluster });
  onTestFinished(() => server.stop());
  return server;
}

async function moveKeys(from: RedisServer, to: RedisServer, slot: string): Promise<void> {
  const client = createClient({ url: from.url });
  await client.connect();
  try {
    const keys = (await client.sendCommand(['CLUSTER', 'GETKEYSINSLOT', slot, '100'])) as unknown as string[];
    expect(keys.length).toBeGreaterThan(1);
    await client.sendCommand(['MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys]);
  } finally {
    client.destroy();
  }
}

interface Ends {
  readonly from: RedisServer;
  readonly to: RedisServer;
  readonly slot: string;
}

async function announce({ from, to, slot }: Ends): Promise<void> {
  const [fromId, toId] = [await ask(from.port, 'CLUSTER MYID'), await ask(to.port, 'CLUSTER MYID')];
  await ask(to.port, `CLUSTER SETSLOT ${slot} IMPORTING ${fromId}`);
  await ask(from.port, `CLUSTER SETSLOT ${slot} MIGRATING ${toId}`);
}

async function handOver({ from, to, slot }: Ends): Promise<void> {
  const toId = await ask(to.port, 'CLUSTER MYID');
  for (const { port } of [to, from]) await ask(port, `CLUSTER SETSLOT ${slot} NODE ${toId}`);
}

describeWithRedis('a namespace whose slot moves to another node', () => {
  it('cannot be used meanwhile, and goes on there by itself, each time', { timeout: 60_000 }, async () => {
    const [from, to] = [await aNode(true), await aNode('bare')];
    await ask(to.port, `CLUSTER MEET 127.0.0.1 ${from.port}`);
    const isWhole = async () => (await ask(to.port, 'CLUSTER INFO')).includes('cluster_state:ok');
    await expect.poll(isWhole, { timeout: 20_000 }).toBe(true);
    const store = await openRedisStore({ url: from.url });
    onTestFinished(() => store.close());
    const add = (id: string) => store.jobs.add([aJob(id)]).catch(() => null);
    await store.jobs.add([aJob('before')]);

    const slot = await ask(from.port, 'CLUSTER KEYSLOT {longhaul}');
    await announce({ from, to, slot });
    await expect(store.jobs.add([aJob('meanwhile')])).rejects.toMatchObject({ code: 'outcome-unknown' });
    await expect(store.jobs.count()).rejects.toMatchObject({ code: 'store-unavailable' });

    await moveKeys(from, to, slot);
    await expect(store.jobs.count()).rejects.toMatchObject({ code: 'store-unavailable' });
    await handOver({ from, to, slot });
    await expect.poll(() => add('after'), { timeout: 20_000 }).toMatchObject([{ ok: true }]);
    expect(await store.jobs.find(['before', 'after'])).toMatchObject([{ id: 'before' }, { id: 'after' }]);
    expect(await ask(to.port, 'EXISTS {longhaul}')).toBe('1');

    // And back while no call is made: the store learns only that the slot has moved.
    const back = { from: to, to: from, slot };
    await announce(back);
    await moveKeys(to, from, slot);
    await handOver(back);
    await expect(store.jobs.count()).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect.poll(() => add('back'), { timeout: 20_000 }).toMatchObject([{ ok: true }]);
    expect(await ask(from.port, 'EXISTS {longhaul}')).toBe('1');
  });
});
