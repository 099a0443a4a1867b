/**
 * Labels: the present condition of a job, as one word with a reason.
 *
 * A label is computed from the record and never stored, because time alone writes nothing.
 */

import type { WaitReason } from '../limits/throttle.ts';
import { waitReasonText } from '../limits/throttle.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { failureText } from './failure-text.ts';
import type { Job, Parents } from './job.ts';
import { isBlocked, isRunning, type RunningJob } from './job.ts';
import type { Suspension } from './step.ts';
import { suspensionText } from './step.ts';

export const LABELS = [
  'draft',
  'blocked',
  'scheduled',
  'retrying',
  'suspended',
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
        reason: job.failure === null ? 'failed' : failureText(job.failure),
      };
    case 'cancelled':
      return { label: 'cancelled', reason: 'cancelled' };
    default:
      return { label: 'draft', reason: 'being prepared: waits for its commit' };
  }
}

/** Replaces `ready` by `throttled` if a limit keeps every worker from starting the job now. */
export function withWaitReason({ label, reason }: Labelled, waitReason: WaitReason | null): Labelled {
  return label === 'ready' && waitReason !== null
    ? { label: 'throttled', reason: waitReasonText(waitReason) }
    : { label, reason };
}

function labelOfWaiting(job: Job, settings: QueueSettings, now: number): Labelled {
  if (isBlocked(job)) {
    const { foldedInto, parents } = job;
    return {
      label: 'blocked',
      reason: foldedInto === null ? dependencyReason(parents) : `coalesced with job ${foldedInto}`,
    };
  }
  if (job.runAt > now) {
    const at = new Date(job.runAt).toISOString();
    if (job.suspension !== null) return { label: 'suspended', reason: suspendedReason(job.suspension) };
    if (job.failures === 0) return { label: 'scheduled', reason: `not before ${at}` };
    return { label: 'retrying', reason: `after failure ${job.failures}, again at ${at}` };
  }
  if (settings.state !== 'up') {
    const note = settings.note === null ? '' : `: ${settings.note}`;
    return { label: 'paused', reason: `the queue is ${settings.state}${note}` };
  }
  return { label: 'ready', reason: job.returnedAt === null ? 'waits for a worker' : 'returned work: claimed first' };
}

function suspendedReason({ until, event }: Suspension): string {
  return until === null
    ? suspensionText({ event })
    : `${suspensionText({ event })} until ${new Date(until).toISOString()}`;
}

function dependencyReason(parents: Parents | null): string {
  const { of, open, bad } = parents ?? { of: 0, open: 0, bad: 0 };
  const text = `waits for ${open} of ${of} ${of === 1 ? 'job' : 'jobs'}`;
  return bad === 0 ? text : `${text}; held, since ${bad} of them failed or ${bad === 1 ? 'was' : 'were'} cancelled`;
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
