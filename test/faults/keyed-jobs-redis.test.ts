import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { openFaultEnvironment } from './fault-environment.ts';
import { KEYED_JOBS_MS, KEYED_SETTINGS, runKeyedJobs } from './keyed-jobs.ts';

describeWithRedis('over Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it(
    'a limit of one job per key holds while workers are killed, every key makes progress, and all slots are freed',
    async () => {
      const connect = { namespace: `keyed-${randomUUID()}` };
      await runKeyedJobs(
        await openFaultEnvironment({ address: redis.url, connect, settings: KEYED_SETTINGS }),
        'Redis',
      );
    },
    KEYED_JOBS_MS,
  );
});
