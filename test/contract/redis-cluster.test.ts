/**
 * The Redis store passes the contract on a cluster, where all keys of a namespace must be in one hash slot: at small size
 * the parts that use each script and each key.
 */
import { describeWithRedis } from '../support/redis-server.ts';
import { onlyAtFullSize, storeContract } from './contract.ts';
import { freshRedis } from './open-redis.ts';

/** Their scripts and keys are used in other parts as well. */
const IN_OTHER_PARTS = new Set([
  'texts and names',
  'claim order',
  'lost leases',
  'stale tokens',
  'suspending',
  'rates of throttles',
  'limits of a queue',
  'global settings',
  'failed dependencies',
  'counts and failure groups',
  'throughput over time',
  'history',
  'schedules',
]);

describeWithRedis('on a cluster', () => {
  const left = onlyAtFullSize('redis.test.ts runs it on one server', (part) => IN_OTHER_PARTS.has(part));
  storeContract('the Redis store', freshRedis({ cluster: true }), left);
});
