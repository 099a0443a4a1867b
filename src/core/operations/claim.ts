/**
 * Claiming: first what was lost comes back to the front of its queue, then the queue is served in its order.
 *
 * A claim that is repeated with the request id of the worker's latest one gets the leases it was given and still
 * holds: its first answer may never have arrived.
 */
import type { Moment } from '../clock.ts';
import type { Job } from '../job.ts';
import type { ClaimRequest, ClaimResult } from '../job-store.ts';
import { claimed, holds, isOvertakable, lost } from '../lifecycle.ts';
import type { Table } from '../table.ts';
import { apply } from './apply.ts';
import { applyWithDependents } from './dependents.ts';

/** How many lost leases one claim brings back at the most; the next one goes on. */
export const MAX_OVERTAKEN = 1_000;

export function claim(table: Table, request: ClaimRequest, moment: Moment): ClaimResult {
  const repeated = repeat(table, request);
  const jobs = repeated ?? take(table, request, moment);
  if (repeated === undefined && jobs.length > 0) remember(table, request, jobs);
  return { jobs, now: moment.now, nextAt: nextAt(table, request.queues, moment.now) };
}

function repeat(table: Table, { worker, requestId }: ClaimRequest): readonly Job[] | undefined {
  const last = table.lastClaim(worker);
  if (last === undefined || last.requestId !== requestId) return undefined;
  return last.leases.flatMap(({ id, token }) => {
    const job = table.get(id);
    return holds(job, token) ? [job] : [];
  });
}

function take(table: Table, request: ClaimRequest, moment: Moment): readonly Job[] {
  const jobs: Job[] = [];
  for (const queue of request.queues) {
    if (jobs.length >= request.limit) break;
    jobs.push(...takeFrom(table, queue, { ...request, limit: request.limit - jobs.length }, moment));
  }
  return jobs;
}

function takeFrom(table: Table, queue: string, request: ClaimRequest, moment: Moment): readonly Job[] {
  const settings = table.settings(queue);
  if (settings.state !== 'up') return [];
  overtake(table, queue, MAX_OVERTAKEN, moment);
  const { now } = moment;
  const waiting = table.ready(queue, now, { limit: request.limit, offset: 0, forClaim: true });
  return waiting.map((job) => {
    const leaseMs = request.leaseMs ?? settings.leaseMs;
    const change = claimed(job, { now, token: table.takeToken(), worker: request.worker, leaseMs });
    apply(table, job, change, now);
    return change.job;
  });
}

/** Ends the attempts of a queue whose lease nobody renewed. Returns how many. */
export function overtake(table: Table, queue: string, limit: number, moment: Moment): number {
  const settings = table.settings(queue);
  if (settings.onLost === 'hold') return 0;
  const expired = table.leasesUntil(queue, moment.now, limit).filter((job) => isOvertakable(job, settings, moment));
  for (const job of expired)
    applyWithDependents(table, job, lost(job, settings, moment.now, 'its lease was not renewed'), moment.now);
  return expired.length;
}

function remember(table: Table, { worker, requestId }: ClaimRequest, jobs: readonly Job[]): void {
  const leases = jobs.map(({ id, lease }) => ({ id, token: lease?.token ?? 0 }));
  table.rememberClaim(worker, { requestId, at: jobs[0]?.lease?.claimedAt ?? 0, leases });
}

function nextAt(table: Table, queues: readonly string[], now: number): number | null {
  const times = queues.flatMap((queue) => {
    const settings = table.settings(queue);
    if (settings.state !== 'up') return [];
    const leaseEnd = settings.onLost === 'hold' ? null : table.nextLeaseEnd(queue);
    return [table.nextRunAt(queue, now), leaseEnd === null ? null : leaseEnd + settings.lostGraceMs];
  });
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
