import { describe, it } from 'vitest';
import { ask, describeWithRedis, startRedis } from '../support/redis-server.ts';
import { isFullSize } from '../support/test-size.ts';
import { aFolder } from './fault-environment.ts';
import { SLEEPING_JOBS_MS, sleepWithoutCost } from './sleeping-jobs.ts';

const describeAtFullSize = isFullSize ? describeWithRedis : () => undefined;

describe('over SQLite', () => {
  it(
    'sleeping jobs cost almost no CPU, and wake at their time',
    () => sleepWithoutCost({ name: 'SQLite', address: aFolder(), options: {}, cpuMs: async () => 0 }),
    SLEEPING_JOBS_MS,
  );
});

describeAtFullSize('over Redis', () => {
  it(
    'sleeping jobs cost almost no CPU, and wake at their time',
    async () => {
      const redis = await startRedis();
      const cpuMs = async (): Promise<number> => {
        const info = await ask(redis.port, 'INFO cpu');
        const seconds = [...info.matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm)].map(([, value]) => Number(value));
        return 1_000 * seconds.reduce((sum, value) => sum + value, 0);
      };
      try {
        await sleepWithoutCost({ name: 'Redis', address: redis.url, options: { namespace: 'sleeps' }, cpuMs });
      } finally {
        await redis.stop();
      }
    },
    SLEEPING_JOBS_MS,
  );
});
