/** The Redis store passes the contract. */
import { describeWithRedis } from '../support/redis-server.ts';
import { storeContract } from './contract.ts';
import { freshRedis } from './open-redis.ts';

describeWithRedis('on one server', () => {
  storeContract('the Redis store', freshRedis());
});
