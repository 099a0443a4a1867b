/** The node of a cluster that has the namespace, killed under load, and a replica that takes its slots. */
import { it } from 'vitest';
import { startCluster } from '../support/redis-fleet.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { FAILOVER_MS, failOver } from './failover.ts';

describeWithRedis('a node of a cluster, killed under load', () => {
  it('costs nothing that was acked, and workers stop or go on as they were told', { timeout: FAILOVER_MS }, () =>
    failOver('Cluster failover', startCluster),
  );
});
