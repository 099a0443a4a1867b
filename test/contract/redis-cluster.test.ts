/** The Redis store passes the contract on a cluster, where all keys of a namespace must be in one hash slot. */
import { describeWithRedis } from '../support/redis-server.ts';
import { storeContract } from './contract.ts';
import { freshRedis } from './open-redis.ts';

describeWithRedis('on a cluster', () => {
  storeContract('the Redis store', freshRedis({ cluster: true }));
});
