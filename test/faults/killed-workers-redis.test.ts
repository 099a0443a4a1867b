import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { openFaultEnvironment } from './fault-environment.ts';
import { fenceTheFrozen, KILLED_WORKERS_MS, LEASE_MS, surviveKills } from './killed-workers.ts';

describeWithRedis('over Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** Each try in a namespace of its own: what an earlier one left would be held against it. */
  const aFaultEnvironment = (name: string) =>
    openFaultEnvironment({
      address: redis.url,
      connect: { namespace: `${name}-${randomUUID()}` },
      settings: { lease: LEASE_MS, heartbeat: LEASE_MS / 4 },
    });

  it.each(['running', 'done'] as const)(
    'a worker frozen just before it settles is refused when its job is %s elsewhere, and what it said is kept',
    async (otherIs) => {
      await fenceTheFrozen(await aFaultEnvironment(`frozen-${otherIs}`), 'Redis', otherIs);
    },
  );

  it(
    'workers killed at random lose nothing and finish nothing twice',
    async () => {
      await surviveKills(await aFaultEnvironment('killed'), 'Redis');
    },
    KILLED_WORKERS_MS,
  );
});
