/**
 * Labels: what a job is at this moment, in one word and with the reason in words.
 *
 * Worked out from the record, never stored: time alone writes nothing.
 */

import type { Brake } from '../limits/throttle.ts';
import { brakeWords } from '../limits/throttle.ts';
import type { QueueSettings } from '../settings/settings.ts';
import type { Job, Parents } from './job.ts';
import { isBlocked, isRunning, type RunningJob } from './job.ts';

export const LABELS = [
  'draft',
  'blocked',
  'scheduled',
  'retrying',
  'paused',
  'throttled',
  'ready',
  'starting',
  'running',
  'stalled',
  'held',
  'cancelling',
  'done',
  'relayed',
  'failed',
  'cancelled',
] as const;
/**
 * A job's state in more detail: whether a waiting job is scheduled, blocked or throttled, a running one stalled, and
 * so on.
 */
export type Label = (typeof LABELS)[number];

export interface Labelled {
  readonly label: Label;
  readonly reason: string;
}

export function labelOf(job: Job, settings: QueueSettings, now: number): Labelled {
  if (isRunning(job)) return labelOfRunning(job, settings, now);
  switch (job.state) {
    case 'waiting':
      return labelOfWaiting(job, settings, now);
    case 'done':
      return job.forwardedTo === null
        ? { label: 'done', reason: job.foldedInto === null ? 'completed' : `done with job ${job.foldedInto}` }
        : { label: 'relayed', reason: `handed to ${job.forwardedTo}` };
    case 'failed':
      return {
        label: 'failed',
        reason: job.failure === null ? 'failed' : `${job.failure.group}: ${job.failure.message}`,
      };
    case 'cancelled':
      return { label: 'cancelled', reason: 'cancelled' };
    default:
      return { label: 'draft', reason: 'being prepared: waits for its commit' };
  }
}

/** A job that waits for a worker, and that no worker may start now. */
export function unlessThrottled({ label, reason }: Labelled, brake: Brake | null): Labelled {
  return label === 'ready' && brake !== null ? { label: 'throttled', reason: brakeWords(brake) } : { label, reason };
}

function labelOfWaiting(job: Job, settings: QueueSettings, now: number): Labelled {
  if (isBlocked(job)) {
    const { foldedInto, parents } = job;
    return { label: 'blocked', reason: foldedInto === null ? wordsOf(parents) : `goes with job ${foldedInto}` };
  }
  if (job.runAt > now) {
    const at = new Date(job.runAt).toISOString();
    if (job.failures === 0) return { label: 'scheduled', reason: `not before ${at}` };
    return { label: 'retrying', reason: `after failure ${job.failures}, again at ${at}` };
  }
  if (settings.state !== 'up') {
    const note = settings.note === null ? '' : `: ${settings.note}`;
    return { label: 'paused', reason: `the queue is ${settings.state}${note}` };
  }
  return { label: 'ready', reason: job.returnedAt === null ? 'waits for a worker' : 'returned work: goes first' };
}

function wordsOf(parents: Parents | null): string {
  const { of, open, bad } = parents ?? { of: 0, open: 0, bad: 0 };
  const words = `waits for ${open} of ${of} ${of === 1 ? 'job' : 'jobs'}`;
  return bad === 0 ? words : `${words}; held, since ${bad} of them failed or ${bad === 1 ? 'was' : 'were'} cancelled`;
}

function labelOfRunning({ lease, attempt }: RunningJob, settings: QueueSettings, now: number): Labelled {
  if (lease.cancelAskedAt !== null) return { label: 'cancelling', reason: `${lease.worker} was asked to stop it` };
  if (lease.until <= now) {
    if (settings.onLost === 'hold') return { label: 'held', reason: `${lease.worker} is silent; an operator decides` };
    return { label: 'stalled', reason: `no heartbeat from ${lease.worker} since its lease ended` };
  }
  if (lease.startedAt === null) return { label: 'starting', reason: `claimed by ${lease.worker}` };
  return { label: 'running', reason: `attempt ${attempt} on ${lease.worker}` };
}
