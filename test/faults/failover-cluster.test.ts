/** The cluster node of the namespace is killed under load, and a replica takes over its slots. */
import { it } from 'vitest';
import { startCluster } from '../support/redis-fleet.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { FAILOVER_MS, failOver } from './failover.ts';

describeWithRedis('a node of a cluster, killed under load', () => {
  it('loses no acknowledged job, and workers follow onUnreachable', { timeout: FAILOVER_MS }, () =>
    failOver('Cluster failover', startCluster),
  );
});
