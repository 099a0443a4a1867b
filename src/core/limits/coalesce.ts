/**
 * Coalescing rules: jobs of a queue that are equal in the fields it names in `coalesce` are finished together.
 *
 * When one of them starts, the equal jobs that are claimable then are coalesced into it (stored as `folded`): they wait
 * for its end and are not claimed. With `scheduled` this includes jobs whose run time has not come. If that job is done, they are done with its result. If its attempt ends in another
 * way, they return to their old positions. A job added later is not coalesced: its request may be newer than the start
 * of the running attempt. Pure, like lifecycle.ts; `operations/coalescing.ts` finds the equal jobs and stores the
 * result.
 */
import type { HistoryEvent } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import { isBlocked } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { transition } from '../lifecycle/lifecycle.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { keyIn } from './throttle.ts';

/** How many jobs are coalesced into one job; the others stay claimable. */
export const MAX_COALESCED = 1_000;

/** Returns the key that equal jobs share, or null if the queue or the job's data has none. */
export function coalesceKeyOf({ data }: Pick<Job, 'data'>, { coalesce }: QueueSettings): string | null {
  return coalesce === null ? null : keyIn(data, coalesce.by);
}

/** Returns the key of a claimable job, by which equal jobs find it; null in any other state, and for a suspended job, which has begun. */
export function claimableKey(job: Job, settings: QueueSettings): string | null {
  return job.state === 'waiting' && job.suspension === null && !isBlocked(job) ? coalesceKeyOf(job, settings) : null;
}

export function coalescedInto(job: Job, leader: string, now: number): Transition {
  return transition({ ...job, foldedInto: leader }, 'folded', now, { note: leader });
}

const COMPLETIONS: ReadonlySet<HistoryEvent> = new Set<HistoryEvent>(['completed', 'advanced', 'forwarded']);

/** Returns the job after the attempt of the job that it was coalesced into ended with this event. */
export function followedLeader(job: Job, leader: Job, event: HistoryEvent, now: number): Transition {
  if (!COMPLETIONS.has(event)) return transition({ ...job, foldedInto: null }, 'unfolded', now, { note: leader.id });
  const { result, forwardedTo } = leader;
  const done: Job = { ...job, state: 'done', endedAt: now, returnedAt: null, dependents: 0, failure: null };
  const how = event === 'forwarded' ? 'forwarded' : 'completed';
  return transition({ ...done, result, forwardedTo }, how, now, { note: `with job ${leader.id}` });
}
