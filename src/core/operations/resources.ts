/**
 * Resource needs over a table. A job that does not fit a worker is parked under its needs, and is unparked by a claim
 * of a worker that has room for it. A claim therefore checks distinct needs, and never all jobs that have them.
 */
import type { Job } from '../job/job.ts';
import { readySince } from '../job/job.ts';
import type { Resources } from '../limits/resources.ts';
import { capacityIn, fits, needsAt, needsOf, needsRotation, PATIENCE_MS, readResources } from '../limits/resources.ts';
import { throttlesOf } from '../limits/throttle.ts';
import type { ClaimRequest } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import { bucketsOf, closedAmong } from './limits/buckets.ts';
import { fullAmong } from './throttles.ts';

/** Unparks the first job of each distinct need that fits. Returns whether it unparked any. */
export function unparkFitting(table: Table, queue: string, room: Resources, now: number): boolean {
  const fitting = table.parkedNeeds(queue, needsRotation(now)).filter((address) => fits(needsAt(address), room));
  let isBack = false;
  for (const address of fitting) isBack = table.unpark(address, queue, 1) > 0 || isBack;
  return isBack;
}

/** Returns whether this worker reserves its capacity for a job that has waited long enough and that it could run. */
export function isReserved(table: Table, queue: string, { offers }: ClaimRequest, now: number): boolean {
  if (offers === undefined) return false;
  const [whole, free] = [readResources(offers.whole), readResources(offers.free)];
  return table.parkedNeeds(queue, needsRotation(now)).some((address) => {
    const needs = needsAt(address);
    const first = fits(needs, whole) && !fits(needs, free) ? table.firstParked(address, queue) : undefined;
    if (first === undefined || now - readySince(first) < PATIENCE_MS) return false;
    const slots = throttlesOf(first, table.settings(queue));
    return (
      fullAmong(table, slots) === undefined && closedAmong(table, bucketsOf(table, first, slots), now) === undefined
    );
  });
}

/** Returns whether no registered worker has the capacity that a job needs. */
export function exceedsAllWorkers(table: Table, job: Job, now: number): boolean {
  const needs = needsOf(job, table.settings(job.queue));
  if (needs === '') return false;
  return !table.workers().some(({ until, info }) => until > now && fits(needs, capacityIn(info)));
}
