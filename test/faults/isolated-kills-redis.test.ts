import { afterAll, beforeAll, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { aFolder, openFaultEnvironment } from './fault-environment.ts';
import { ISOLATED_KILLS_MS, LEASE_MS, surviveIsolatedKills } from './isolated-kills.ts';

describeWithRedis('over Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it(
    'workers and isolated processes killed at random lose no job, leave no process and cut no log',
    async () => {
      const home = aFolder();
      const settings = { lease: LEASE_MS, heartbeat: LEASE_MS / 4 };
      const environment = await openFaultEnvironment({ address: redis.url, connect: { home }, settings });
      await surviveIsolatedKills(environment, 'Redis', home);
    },
    ISOLATED_KILLS_MS,
  );
});
