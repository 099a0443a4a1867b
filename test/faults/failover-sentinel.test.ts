/** A primary is killed under load, and Sentinels promote a replica. */
import { it } from 'vitest';
import { startSentinels } from '../support/redis-fleet.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { FAILOVER_MS, failOver } from './failover.ts';

describeWithRedis('a primary watched by Sentinels, killed under load', () => {
  it('loses no acknowledged job, and workers follow onUnreachable', { timeout: FAILOVER_MS }, () =>
    failOver('Sentinel failover', startSentinels),
  );
});
