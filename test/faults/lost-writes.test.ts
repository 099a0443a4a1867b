/**
 * What a failover can lose: a replica that is disconnected from its primary is promoted. Without confirmation by replicas,
 * later writes are lost, as docs/redis.md states. Still, no token and no record version is given twice.
 */
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { openRedisStore, type RedisStore } from '../../src/stores/redis/index.ts';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { until } from './fault-environment.ts';

const aJob = (id: string) => ({ id, queue: 'q', data: '{}' });
const claimOf = (worker: string) => ({ worker, queues: ['q'], limit: 1, requestId: `r-${worker}` });

describeWithRedis('a replica that was cut off from its primary, promoted', () => {
  let primary: RedisServer;
  let replica: RedisServer;
  beforeEach(async () => {
    primary = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } });
    replica = await startRedis({ config: { replicaof: `127.0.0.1 ${primary.port}` } });
    await until('the replica follows', 20_000, async () =>
      (await ask(primary.port, 'INFO replication')).includes('state=online') ? true : null,
    );
  });
  afterEach(async () => {
    await primary.stop();
    await replica.stop();
  });

  async function open(server: RedisServer, durability: string): Promise<RedisStore> {
    const store = await openRedisStore({ url: server.url, durability, commandTimeoutMs: 3_000 });
    onTestFinished(() => store.close());
    return store;
  }

  /** Disconnects the replica, which keeps its data. */
  const cutOff = (): Promise<string> => ask(replica.port, 'REPLICAOF 127.0.0.1 1');

  async function promote(): Promise<void> {
    await primary.kill9();
    await ask(replica.port, 'REPLICAOF NO ONE');
  }

  it('has lost writes with durability local, and gives no token and no version twice', async () => {
    const store = await open(primary, 'replicated:1');
    await store.jobs.add([aJob('kept')]);
    await cutOff();
    const local = await open(primary, 'local');
    await local.jobs.add([aJob('lost')]);
    const [first] = (await local.jobs.claim(claimOf('w1'))).jobs;
    const put = await local.records.put({ kind: 'k', key: 'a', value: '1' });
    await promote();

    const after = await open(replica, 'local');
    expect(await after.jobs.find(['kept', 'lost'])).toMatchObject([{ id: 'kept', state: 'waiting' }, null]);
    const [second] = (await after.jobs.claim(claimOf('w2'))).jobs;
    const [lostToken, newToken] = [first?.lease?.token ?? 0, second?.lease?.token ?? 0];
    expect(newToken).toBeGreaterThan(lostToken);
    const late = { id: 'kept', token: lostToken, kind: 'complete' } as const;
    expect(await after.jobs.settle([late])).toMatchObject([{ ok: false, refusal: { code: 'lease-lost' } }]);
    expect(await after.jobs.settle([{ ...late, token: newToken }])).toMatchObject([{ ok: true, state: 'done' }]);
    const again = await after.records.put({ kind: 'k', key: 'a', value: '2' });
    expect(again.ok && put.ok && again.version > put.version).toBe(true);
  });

  it('has all confirmed writes, and no unconfirmed ones', async () => {
    const store = await open(primary, 'replicated:1');
    await store.jobs.add([aJob('kept')]);
    await cutOff();
    await expect(store.jobs.add([aJob('unknown')])).rejects.toMatchObject({ code: 'outcome-unknown' });
    // The repeat on a new connection writes nothing, and is not confirmed either.
    const again = await open(primary, 'replicated:1');
    await expect(again.jobs.add([aJob('unknown')])).rejects.toMatchObject({ code: 'outcome-unknown' });
    await promote();
    const after = await open(replica, 'local');
    expect(await after.jobs.find(['kept', 'unknown'])).toMatchObject([{ id: 'kept' }, null]);
  });

  it('continues above all given tokens after a flush, if a client remembers them', async () => {
    const store = await open(primary, 'local');
    await store.jobs.add([aJob('a')]);
    const [first] = (await store.jobs.claim(claimOf('w1'))).jobs;
    await ask(primary.port, 'FLUSHALL');
    await ask(primary.port, 'CLIENT KILL TYPE normal');
    await until('the client is connected again', 10_000, () =>
      store.jobs.add([aJob('a')]).then(
        () => true,
        () => null,
      ),
    );
    const [second] = (await store.jobs.claim(claimOf('w2'))).jobs;
    expect(second?.lease?.token).toBeGreaterThan(first?.lease?.token ?? 0);
  });
});
