/**
 * Reads throttles: the holders of their slots, the jobs that wait for one, and the reason why a job waits. Nothing here
 * writes.
 */

import { byText } from '../../input/text-order.ts';
import type { Job } from '../../job/job.ts';
import { labelOf } from '../../job/label.ts';
import type { Moment } from '../../lifecycle/clock.ts';
import { bucketOpensAt, bucketState, parkedBucket, readBucket } from '../../limits/bucket.ts';
import { needsOf } from '../../limits/resources.ts';
import type { WaitReason } from '../../limits/throttle.ts';
import type { InsightQueryOf, ThrottleUse } from '../../ports/insight.ts';
import { MAX_BUCKETS, MAX_HOLDERS } from '../../ports/insight.ts';
import type { Table } from '../../ports/table.ts';
import { exceedsAllWorkers } from '../resources.ts';
import { limitReason, maxOf } from '../throttles.ts';

/** Returns the limit that keeps a ready job from starting now, or that no worker could start it. */
export function waitReasonOf(table: Table, job: Job, now: number): WaitReason | null {
  const reason = limitReason(table, job, now);
  if (reason !== null || !exceedsAllWorkers(table, job, now)) return reason;
  return { by: 'needs', needs: needsOf(job, table.settings(job.queue)) };
}

/** Returns the wait reasons of jobs that are ready except for a limit; null for every other job. */
export function waitReasons(
  table: Table,
  { ids }: InsightQueryOf<'brakes'>,
  { now }: Moment,
): readonly (WaitReason | null)[] {
  return ids.map((id) => {
    const job = table.get(id);
    const isReady = job !== undefined && labelOf(job, table.settings(job.queue), now).label === 'ready';
    return isReady ? waitReasonOf(table, job, now) : null;
  });
}

export function throttles(table: Table, { now }: Moment): readonly ThrottleUse[] {
  const holders = new Map<string, string[]>();
  for (const job of [...table.allRunning()].sort((a, b) => a.seq - b.seq))
    for (const address of job.slots) holders.set(address, [...(holders.get(address) ?? []), job.id]);
  const nextStarts = new Map(
    table.busyBuckets(now, MAX_BUCKETS).map((address) => [address, nextStart(table, address, now)]),
  );
  const closed = [...nextStarts].flatMap(([address, at]) => (at === null ? [] : [address]));
  const uses = [...new Set([...holders.keys(), ...closed])].map((address) => {
    const ids = holders.get(address) ?? [];
    return {
      address,
      max: address.includes(' ') ? null : maxOf(table, address),
      held: ids.length,
      waiting: table.parkedCount(address) + parkedUnderBucket(table, address),
      nextStartAt: nextStarts.get(address) ?? null,
      holders: ids.slice(0, MAX_HOLDERS),
    };
  });
  return uses.sort((a, b) => byText(a.address, b.address));
}

/** Returns when a job of cost 1 may start, or null if one may start now. */
function nextStart(table: Table, address: string, now: number): number | null {
  const { name, key } = readBucket(address);
  const throttle = table.throttle(name);
  const state = bucketState(table.bucket(address), throttle, now);
  return bucketOpensAt({ address, name, key, cost: 1, throttle }, state, now);
}

function parkedUnderBucket(table: Table, address: string): number {
  const parks = address.startsWith('t:') ? table.wakesOf(readBucket(address).name) : [];
  const own = parks.filter(([, park]) => parkedBucket(park) === address);
  return own.reduce((sum, [, park]) => sum + table.parkedCount(park), 0);
}
