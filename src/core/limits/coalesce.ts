/**
 * Coalescing, decided: jobs of a queue that are equal in the fields it names in `coalesce` are done together.
 *
 * When one of them starts, those that stand in line with it are *folded* into it: they wait for its end and nobody
 * claims them. If it is done they are done with it, and have its result; if its attempt ends in any other way they
 * come back to where they stood. One that is added later is not folded: what it asks for may have come after the
 * other had begun. Pure, as lifecycle.ts is; `operations/folds.ts` finds the equals and keeps what is said here.
 */
import type { HistoryEvent } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import { isBlocked } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { transition } from '../lifecycle/lifecycle.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { keyIn } from './throttle.ts';

/** How many jobs are folded into one; the others stay in line. */
export const MAX_FOLDED = 1_000;

/** What makes a job equal to others; null where the queue or the job's data has nothing to go by. */
export function coalesceKeyOf({ data }: Pick<Job, 'data'>, { coalesce }: QueueSettings): string | null {
  return coalesce === null ? null : keyIn(data, coalesce.by);
}

/** The key by which a job can be found while it stands in line. */
export function keyInLine(job: Job, settings: QueueSettings): string | null {
  return job.state === 'waiting' && !isBlocked(job) ? coalesceKeyOf(job, settings) : null;
}

export function foldedInto(job: Job, leader: string, now: number): Transition {
  return transition({ ...job, foldedInto: leader }, 'folded', now, { note: leader });
}

const DOING: ReadonlySet<HistoryEvent> = new Set<HistoryEvent>(['completed', 'advanced', 'forwarded']);

/** The attempt of the job that it was folded into has ended, by this event. */
export function followedLeader(job: Job, leader: Job, event: HistoryEvent, now: number): Transition {
  if (!DOING.has(event)) return transition({ ...job, foldedInto: null }, 'unfolded', now, { note: leader.id });
  const { result, forwardedTo } = leader;
  const done: Job = { ...job, state: 'done', endedAt: now, returnedAt: null, dependents: 0, failure: null };
  const how = event === 'forwarded' ? 'forwarded' : 'completed';
  return transition({ ...done, result, forwardedTo }, how, now, { note: `with job ${leader.id}` });
}
