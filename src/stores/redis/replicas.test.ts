/** `durability: replicated:n`: a change that too few replicas have is not confirmed. */
import { expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { openRedisStore, type RedisStore } from './open-redis-store.ts';

const aJob = (id: string) => ({ id, queue: 'q', data: '{}' });

describeWithRedis('a store that wants replicas', () => {
  it('confirms a change that a replica has, and calls it unknown when none has', async () => {
    // Without the five seconds in which a master waits for more replicas to come.
    const master = await startRedis({ config: { 'repl-diskless-sync-delay': '0' } });
    onTestFinished(() => master.stop());
    const replica = await startRedis({ config: { replicaof: `127.0.0.1 ${master.port}` } });
    onTestFinished(() => replica.stop());
    const store = await openRedisStore({ url: master.url, durability: 'replicated:1', commandTimeoutMs: 4_000 });
    onTestFinished(() => store.close());
    await expect
      .poll(
        () =>
          store.jobs.add([aJob('a')]).then(
            () => 'ok',
            () => 'not yet',
          ),
        { timeout: 20_000 },
      )
      .toBe('ok');
    await countsWaits(master, store);
    await replica.kill9();
    await expect(store.jobs.add([aJob('b')])).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect(await store.jobs.find(['a', 'b'])).toMatchObject([{ id: 'a' }, { id: 'b' }]);
    await replica.restart();
    await expect
      .poll(
        () =>
          store.jobs.add([aJob('b')]).then(
            ([result]) => result,
            () => null,
          ),
        { timeout: 20_000 },
      )
      .toMatchObject({ ok: true, outcome: 'exists' });
  });
});

/** Changes that come together are confirmed together, whichever kind they are. */
async function countsWaits(master: RedisServer, { jobs, records }: RedisStore): Promise<void> {
  const waits = async () => Number(/cmdstat_wait:calls=(\d+)/.exec(await ask(master.port, 'INFO commandstats'))?.[1]);
  const before = await waits();
  const ids = Array.from({ length: 100 }, (_, place) => `together-${place}`);
  const adds = ids.map((id) => jobs.add([aJob(id)]));
  await Promise.all([...adds, ...ids.map((key) => records.put({ kind: 'k', key, value: '1' }))]);
  expect((await waits()) - before).toBeLessThanOrEqual(4);
}
