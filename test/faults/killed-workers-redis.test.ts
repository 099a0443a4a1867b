import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { openFaultEnvironment } from './fault-environment.ts';
import { fenceFrozenWorker, KILLED_WORKERS_MS, LEASE_MS, surviveKills } from './killed-workers.ts';

describeWithRedis('over Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** Each try has a namespace of its own, without the jobs of an earlier one. */
  const aFaultEnvironment = (name: string) =>
    openFaultEnvironment({
      address: redis.url,
      connect: { namespace: `${name}-${randomUUID()}` },
      settings: { lease: LEASE_MS, heartbeat: LEASE_MS / 4 },
    });

  it.each(['running', 'done'] as const)(
    'the settlement of a frozen worker is refused and kept when its job is %s elsewhere',
    async (otherIs) => {
      await fenceFrozenWorker(await aFaultEnvironment(`frozen-${otherIs}`), 'Redis', otherIs);
    },
  );

  it(
    'workers killed at random lose no job and complete none twice',
    async () => {
      await surviveKills(await aFaultEnvironment('killed'), 'Redis');
    },
    KILLED_WORKERS_MS,
  );
});
