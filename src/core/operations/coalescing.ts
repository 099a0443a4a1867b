/**
 * Coalescing over a table: equal claimable jobs are coalesced into the one that starts, and follow it when its attempt
 * ends, in the same step.
 *
 * Invariant: a job that waits coalesced into another finds that one running. A unique key held until the start is
 * released when the job is coalesced, because the started job represents it, and is taken again by a job that returns.
 */

import type { Job } from '../job/job.ts';
import type { ParentChange } from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { keyAddress } from '../lifecycle/lifecycle.ts';
import { coalescedInto, coalesceKeyOf, followedLeader, MAX_COALESCED } from '../limits/coalesce.ts';
import type { Table } from '../ports/table.ts';
import { apply, takeKey } from './apply.ts';

/**
 * Returns the jobs that are finished together with a job that starts now. Keys are computed again, because the queue
 * may name other fields now.
 */
export function equalJobs(table: Table, job: Job, now: number): readonly Job[] {
  const settings = table.settings(job.queue);
  const key = coalesceKeyOf(job, settings);
  if (key === null || job.suspension !== null) return [];
  const until = settings.coalesce?.scheduled === true ? Number.MAX_SAFE_INTEGER : now;
  const found = table.equals(job.queue, key, { now: until, limit: MAX_COALESCED + 1 });
  return found.filter((other) => other.id !== job.id && coalesceKeyOf(other, settings) === key).slice(0, MAX_COALESCED);
}

export function coalesceAll(table: Table, jobs: readonly Job[], leader: Job, now: number): void {
  for (const job of jobs) {
    apply(table, job, coalescedInto(job, leader.id, now), now);
    if (job.unique?.until === 'started') table.releaseKey(keyAddress(job.unique, job.queue), job.id);
  }
}

/**
 * Applies the end of a job's attempt to the jobs coalesced into it. Returns their changes, for the jobs that wait for
 * them.
 */
export function followLeader(
  table: Table,
  before: Job,
  { job: leader, row }: Transition,
  now: number,
): readonly ParentChange[] {
  if (before.folded === 0 || before.state !== 'running' || leader.state === 'running') return [];
  return table.foldedInto(leader.id).map((job) => {
    const change = followedLeader(job, leader, row.event, now);
    apply(table, job, change, now);
    if (job.unique?.until === 'started' && change.job.state === 'waiting') takeKey(table, change.job, now);
    return { before: job, after: change.job };
  });
}
