/** A primary that is killed under load, and Sentinels that promote another. */
import { it } from 'vitest';
import { startSentinels } from '../support/redis-fleet.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { FAILOVER_MS, failOver } from './failover.ts';

describeWithRedis('a primary watched by Sentinels, killed under load', () => {
  it('costs nothing that was acked, and workers stop or go on as they were told', { timeout: FAILOVER_MS }, () =>
    failOver('Sentinel failover', startSentinels),
  );
});
