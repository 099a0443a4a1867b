/** Compares the Redis store with the model: its Lua restates the lifecycle, and this suite holds the two equal. */
import { freshRedis } from '../contract/open-redis.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { modelSuite } from './model-suite.ts';

describeWithRedis('on one server', () => {
  modelSuite('the Redis store', freshRedis());
});
