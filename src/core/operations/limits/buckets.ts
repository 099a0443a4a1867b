/**
 * Rates and pauses of throttles over a table. A job whose bucket is closed, or holds less than the job costs, is parked
 * under the bucket. Time alone unparks it: a claim unparks the first jobs of each bucket that is open again.
 *
 * Invariant: a bucket under which a job is parked has a wake time in that queue, which is not after the time at which
 * the bucket opens. A wake that comes too early costs one check.
 */
import type { Job } from '../../job/job.ts';
import type { Bucket, BucketState } from '../../limits/bucket.ts';
import {
  bucketAfter,
  bucketOf,
  bucketOpensAt,
  bucketPark,
  bucketState,
  closedBucket,
  parkedBucket,
  readBucket,
} from '../../limits/bucket.ts';
import { readAddress } from '../../limits/throttle.ts';
import type { Table } from '../../ports/table.ts';

/** How many buckets of a queue one claim checks; after that it reports that there is more to do at once. */
export const MAX_WAKES = 250;

/** Returns the buckets of which a job takes its cost, by the throttles of which it takes a slot. */
export function bucketsOf(table: Table, { data }: Pick<Job, 'data'>, slots: readonly string[]): readonly Bucket[] {
  return slots.flatMap((address) => {
    const what = readAddress(address);
    return 'name' in what ? [bucketOf(what.name, table.throttle(what.name), data)] : [];
  });
}

function stateOf(table: Table, { address, throttle }: Bucket, now: number): BucketState {
  return bucketState(table.bucket(address), throttle, now);
}

/** A bucket from which a job cannot start now. */
export interface ClosedBucket {
  readonly bucket: Bucket;
  readonly until: number;
}

/** Returns the first of these buckets from which no such job may start now. */
export function closedAmong(table: Table, buckets: readonly Bucket[], now: number): ClosedBucket | undefined {
  for (const bucket of buckets) {
    const until = bucketOpensAt(bucket, stateOf(table, bucket, now), now);
    if (until !== null) return { bucket, until };
  }
  return undefined;
}

/** Parks a job under a bucket. The bucket stays closed until the job can start. */
export function parkUnderBucket(table: Table, job: Job, { bucket, until }: ClosedBucket, now: number): void {
  const state = stateOf(table, bucket, now);
  if (state.until < until) table.setBucket(bucket.address, closedBucket(state, until, now));
  const park = bucketPark(job.queue, bucket.address);
  table.park(job, park);
  table.setWake(job.queue, park, until);
}

/** Takes the cost of a job that starts from each of its buckets. */
export function takeCost(table: Table, buckets: readonly Bucket[], now: number): void {
  for (const bucket of buckets)
    if (bucket.throttle.rate !== null)
      table.setBucket(bucket.address, bucketAfter(bucket, stateOf(table, bucket, now), now));
}

/** Unparks the first jobs of each bucket of a queue that is open again. Returns whether any was unparked. */
export function unparkOpen(table: Table, queue: string, most: number, now: number): boolean {
  let hasUnparked = false;
  for (const park of table.wakes(queue, now, MAX_WAKES)) {
    const address = parkedBucket(park);
    const { until } = bucketState(table.bucket(address), table.throttle(readBucket(address).name), now);
    if (until > now) {
      table.setWake(queue, park, until);
      continue;
    }
    const back = table.unpark(park, queue, most);
    table.setWake(queue, park, back < most ? null : now);
    hasUnparked ||= back > 0;
  }
  return hasUnparked;
}

/** Closes the bucket that a job uses of a throttle, for all jobs of all queues. */
export function pauseThrottle(table: Table, job: Job, pause: { name: string; ms: number; now: number }): void {
  const { name, ms, now } = pause;
  const bucket = bucketOf(name, table.throttle(name), job.data);
  table.setBucket(bucket.address, closedBucket(stateOf(table, bucket, now), now + ms, now));
}

/** Applies new settings of a throttle: its buckets are full and open, so the jobs parked under them are checked again. */
export function bucketsChanged(table: Table, name: string, now: number): ReadonlySet<string> {
  const parks = table.wakesOf(name);
  for (const [queue, park] of parks) table.setWake(queue, park, table.parkedCount(park) > 0 ? now : null);
  return new Set(parks.map(([queue]) => queue));
}
