/** The Redis store, held against the model: its scripts restate the lifecycle, and here it shows whether they do. */
import { freshRedis } from '../contract/open-redis.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { modelSuite } from './model-suite.ts';

describeWithRedis('on one server', () => {
  modelSuite('the Redis store', freshRedis());
});
