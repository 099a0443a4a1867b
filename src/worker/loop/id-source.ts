/** Creates ids for jobs, workers and claims. */
import { randomFillSync } from 'node:crypto';
import { uuid7, uuidTime } from '../../core/job/uuid7.ts';

const POOL_IDS = 400;
const BYTES_PER_ID = 10;

/** Draws random bytes for many ids at once: drawn one at a time, they cost more than the rest of an add. */
export function idSource(): () => string {
  const pool = new Uint8Array(POOL_IDS * BYTES_PER_ID);
  let used = pool.length;
  let madeAt = -1;
  let time = '';
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += BYTES_PER_ID;
    const now = Date.now();
    if (now !== madeAt) time = uuidTime(now);
    madeAt = now;
    return uuid7(time, pool, used - BYTES_PER_ID);
  };
}
