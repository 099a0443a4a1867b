/** Creates ids for jobs, workers and claims. */
import { randomFillSync } from 'node:crypto';
import { END_DIGITS, MAX_COUNT, uuid7, uuidEnd, uuidTime } from '../../core/job/uuid7.ts';

const POOL_IDS = 400;
const DIGITS_PER_BYTE = 2;

/**
 * Returns a source whose ids ascend while the clock does not go back, so that a store appends them to its index. Beyond
 * MAX_COUNT in one millisecond they are only different.
 *
 * Draws random bytes for many ids at once: drawn one at a time, they cost more than the rest of an add.
 */
export function idSource(clock: () => number = Date.now): () => string {
  const pool = Buffer.alloc((POOL_IDS * END_DIGITS) / DIGITS_PER_BYTE);
  let ends: readonly string[] = [];
  let used = 0;
  let madeAt = -1;
  let time = '';
  let count = 0;
  return () => {
    if (used === ends.length) [ends, used] = [endsFrom(randomFillSync(pool)), 0];
    const now = clock();
    if (now !== madeAt) [madeAt, time, count] = [now, uuidTime(now), firstCount()];
    else if (count < MAX_COUNT) count += 1;
    return uuid7(time, count, ends[used++] as string);
  };
}

function endsFrom(pool: Buffer): readonly string[] {
  const digits = pool.toString('hex');
  return Array.from({ length: POOL_IDS }, (_, place) => uuidEnd(digits, place * END_DIGITS));
}

/** Random, so that processes that add in the same millisecond rarely count alike. Half of the counts are left. */
function firstCount(): number {
  return Math.floor((Math.random() * MAX_COUNT) / 2);
}
