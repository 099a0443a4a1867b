/** The Redis store passes the contract. */
import { describeWithRedis } from '../support/redis-server.ts';
import { storeContract } from './contract.ts';
import { freshRedis } from './open-redis.ts';
import { ANSWERS_AT_ONCE } from './waiting-claims.ts';

describeWithRedis('on one server', () => {
  storeContract('the Redis store', freshRedis(), ANSWERS_AT_ONCE);
});
