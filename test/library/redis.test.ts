import { afterAll, beforeAll } from 'vitest';
import { connect } from '../../src/library/index.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { libraryOver } from './library.ts';
import { stepsOver } from './steps.ts';

describeWithRedis('Redis', () => {
  let redis: RedisServer;
  let namespaces = 0;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  libraryOver('Redis', () => connect(redis.url, { namespace: `library-${namespaces++}` }));
  stepsOver('Redis', () => connect(redis.url, { namespace: `steps-${namespaces++}` }));
});
