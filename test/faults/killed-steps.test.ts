import { describe, it } from 'vitest';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { isFullSize } from '../support/test-size.ts';
import { aFolder } from './fault-environment.ts';
import { KILLED_STEPS_MS, surviveKilledSteps } from './killed-steps.ts';

const describeAtFullSize = isFullSize ? describeWithRedis : () => undefined;

describe('over SQLite', () => {
  it(
    'steps that are kept never run again when workers are killed, and every job ends',
    () => surviveKilledSteps(aFolder(), {}, 'SQLite'),
    KILLED_STEPS_MS,
  );
});

describeAtFullSize('over Redis', () => {
  it(
    'steps that are kept never run again when workers are killed, and every job ends',
    async () => {
      const redis = await startRedis();
      try {
        await surviveKilledSteps(redis.url, { namespace: 'steps' }, 'Redis');
      } finally {
        await redis.stop();
      }
    },
    KILLED_STEPS_MS,
  );
});
