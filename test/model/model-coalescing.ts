/**
 * Coalescing on the model: equals are searched among all jobs, and what is folded into a job is found by its record.
 *
 * It takes from the core what makes a job's key and what becomes of one job, and nothing of how equals are found.
 */

import type { Job, RunningJob } from '../../src/core/job/job.ts';
import type { Transition } from '../../src/core/lifecycle/lifecycle.ts';
import { coalesceKeyOf, coalescedInto, followedLeader, MAX_FOLDED } from '../../src/core/limits/coalesce.ts';
import type { Model } from './model.ts';
import { comeFree, type News, newsOf } from './model-family.ts';

/** Those that go with a job when it starts. One that stood in line before the queue went by these fields has no such key. */
export function equalsOf(model: Model, job: Job, now: number): readonly Job[] {
  const settings = model.settings(job.queue);
  const key = coalesceKeyOf(job, settings);
  if (key === null) return [];
  const equals = model
    .in(job.queue, 'waiting')
    .filter((other) => other.id !== job.id && !model.isBlocked(other) && other.runAt <= now)
    .filter((other) => other.coalesceKey === key && coalesceKeyOf(other, settings) === key);
  return equals.sort((a, b) => a.runAt - b.runAt || a.seq - b.seq).slice(0, MAX_FOLDED);
}

export function fold(model: Model, jobs: readonly Job[], leader: RunningJob, now: number): void {
  for (const job of jobs) {
    model.become(coalescedInto(job, leader.id, now), now);
    if (job.unique?.until === 'started') model.releaseKey(job);
  }
}

/** What was folded into a job whose attempt has ended follows it. Answers what others must hear of it. */
export function follow(model: Model, before: Job, { job: leader, row }: Transition, now: number): readonly News[] {
  if (before.state !== 'running' || leader.state === 'running') return [];
  const folded = model.jobs.filter((job) => job.state === 'waiting' && job.foldedInto === leader.id);
  return folded
    .sort((a, b) => a.seq - b.seq)
    .flatMap((job) => {
      const change = followedLeader(job, leader, row.event, now);
      model.become(change, now);
      comeFree(model, job.id, true, now);
      const isBack = change.job.state === 'waiting';
      if (isBack && job.unique?.until === 'started') model.takeKey(change.job, now);
      return newsOf(change.job);
    });
}
