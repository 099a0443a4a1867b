/**
 * Coalescing over a table: equals that stand in line are folded into the one that starts, and follow it when its
 * attempt ends, in the same step.
 *
 * Invariant: a job that waits folded into another finds that one running. A unique key that is held until the start
 * is let go with the fold, since the one that has started stands for it, and taken again by one that comes back.
 */

import type { Job } from '../job/job.ts';
import type { Turn } from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { keyAddress } from '../lifecycle/lifecycle.ts';
import { coalesceKeyOf, foldedInto, followedLeader, MAX_FOLDED } from '../limits/coalesce.ts';
import type { Table } from '../ports/table.ts';
import { apply, takeKey } from './apply.ts';

/** Those that a job which starts now is done for. Their keys are looked at again: the queue may go by other fields now. */
export function equalsOf(table: Table, job: Job, now: number): readonly Job[] {
  const settings = table.settings(job.queue);
  const key = coalesceKeyOf(job, settings);
  if (key === null) return [];
  const found = table.equals(job.queue, key, { now, limit: MAX_FOLDED + 1 });
  return found.filter((other) => other.id !== job.id && coalesceKeyOf(other, settings) === key).slice(0, MAX_FOLDED);
}

export function foldAll(table: Table, jobs: readonly Job[], leader: Job, now: number): void {
  for (const job of jobs) {
    apply(table, job, foldedInto(job, leader.id, now), now);
    if (job.unique?.until === 'started') table.releaseKey(keyAddress(job.unique, job.queue), job.id);
  }
}

/** What becomes of those that were folded into a job when it no longer runs. Answers it, for whoever waits for them. */
export function followLeader(
  table: Table,
  before: Job,
  { job: leader, row }: Transition,
  now: number,
): readonly Turn[] {
  if (before.folded === 0 || before.state !== 'running' || leader.state === 'running') return [];
  return table.foldedInto(leader.id).map((job) => {
    const change = followedLeader(job, leader, row.event, now);
    apply(table, job, change, now);
    if (job.unique?.until === 'started' && change.job.state === 'waiting') takeKey(table, change.job, now);
    return { before: job, after: change.job };
  });
}
