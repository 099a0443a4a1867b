/**
 * Resource slots over a table. A job that does not fit a worker is parked under its needs, and comes back into line with
 * a claim of a worker that has room for it; so claims look at different needs, and never at all who have them.
 */
import type { Job } from '../job/job.ts';
import { readySince } from '../job/job.ts';
import type { Resources } from '../limits/resources.ts';
import { fits, lookAt, needsAt, needsOf, offeredBy, PATIENCE_MS, readResources } from '../limits/resources.ts';
import { throttlesOf } from '../limits/throttle.ts';
import type { ClaimRequest } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import { fullAmong } from './throttles.ts';

/** The first of each kind of needs for which there is room come back into line. Answers whether any did. */
export function letInFitting(table: Table, queue: string, room: Resources, now: number): boolean {
  const fitting = table.parkedNeeds(queue, lookAt(now)).filter((address) => fits(needsAt(address), room));
  return fitting.map((address) => table.unpark(address, queue, 1)).some((back) => back > 0);
}

/** Whether this worker keeps its room for a job that has waited long enough, and that it could do. */
export function isKept(table: Table, queue: string, { offers }: ClaimRequest, now: number): boolean {
  if (offers === undefined) return false;
  const [whole, free] = [readResources(offers.whole), readResources(offers.free)];
  return table.parkedNeeds(queue, lookAt(now)).some((address) => {
    const needs = needsAt(address);
    const first = fits(needs, whole) && !fits(needs, free) ? table.firstParked(address, queue) : undefined;
    if (first === undefined || now - readySince(first) < PATIENCE_MS) return false;
    return fullAmong(table, throttlesOf(first, table.settings(queue))) === undefined;
  });
}

/** Whether no worker that is there offers what a job needs. */
export function isTooMuch(table: Table, job: Job, now: number): boolean {
  const needs = needsOf(job, table.settings(job.queue));
  if (needs === '') return false;
  return !table.workers().some(({ until, info }) => until > now && fits(needs, offeredBy(info)));
}
