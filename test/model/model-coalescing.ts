/**
 * Coalescing in the model: equal jobs are searched among all jobs, and coalesced jobs are found by their record.
 *
 * The model takes from the core how a key is made and what becomes of one job, and nothing of how equal jobs are found.
 */

import type { Job, RunningJob } from '../../src/core/job/job.ts';
import type { Transition } from '../../src/core/lifecycle/lifecycle.ts';
import { coalescedInto, coalesceKeyOf, followedLeader, MAX_COALESCED } from '../../src/core/limits/coalesce.ts';
import type { Model } from './model.ts';
import { changeOf, markFreed, type ParentChange } from './model-family.ts';

/**
 * Returns the jobs to coalesce into a job that starts. A job that became claimable before the queue named these fields
 * has no such key.
 */
export function equalJobs(model: Model, job: Job, now: number): readonly Job[] {
  const settings = model.settings(job.queue);
  const key = coalesceKeyOf(job, settings);
  if (key === null || job.suspension !== null) return [];
  const equals = model
    .in(job.queue, 'waiting')
    .filter((other) => other.id !== job.id && !model.isBlocked(other))
    .filter((other) => settings.coalesce?.scheduled === true || other.runAt <= now)
    .filter((other) => other.coalesceKey === key && coalesceKeyOf(other, settings) === key);
  return equals.sort((a, b) => a.runAt - b.runAt || a.seq - b.seq).slice(0, MAX_COALESCED);
}

export function coalesce(model: Model, jobs: readonly Job[], leader: RunningJob, now: number): void {
  for (const job of jobs) {
    model.become(coalescedInto(job, leader.id, now), now);
    if (job.unique?.until === 'started') model.releaseKey(job);
  }
}

/** Applies the end of a leader's attempt to the jobs coalesced into it. Returns their changes. */
export function follow(
  model: Model,
  before: Job,
  { job: leader, row }: Transition,
  now: number,
): readonly ParentChange[] {
  if (before.state !== 'running' || leader.state === 'running') return [];
  const folded = model.jobs.filter((job) => job.state === 'waiting' && job.foldedInto === leader.id);
  return folded
    .sort((a, b) => a.seq - b.seq)
    .flatMap((job) => {
      const change = followedLeader(job, leader, row.event, now);
      model.become(change, now);
      markFreed(model, job.id, true, now);
      const isBack = change.job.state === 'waiting';
      if (isBack && job.unique?.until === 'started') model.takeKey(change.job, now);
      return changeOf(change.job);
    });
}
