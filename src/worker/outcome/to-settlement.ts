/**
 * What an attempt's end means: the one place in the worker that decides. Pure.
 *
 * Being told to stop is no fault of the job. So an attempt that fails while its worker drains or its store is away
 * is released and not failed; one that completes all the same has completed.
 */

import type { Failure, RunningJob } from '../../core/job/job.ts';
import { backoffMs } from '../../core/lifecycle/backoff.ts';
import type { Settlement } from '../../core/ports/job-store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { limitsOf } from '../attempt/attempt-limits.ts';
import type { RunOutcome } from '../attempt/run-outcome.ts';
import type { StopReason } from '../attempt/stop-reason.ts';

export interface Ending {
  /** Null: it was abandoned, so nobody knows. */
  readonly outcome: RunOutcome | null;
  /** Why it was told to stop, if it was. */
  readonly reason: StopReason | null;
}

export interface SettlementContext {
  readonly settings: QueueSettings;
  /** In [0, 1), for the back-off. */
  readonly random: number;
}

/** Null: there is nothing to say that anybody would want to hear. */
export function toSettlement(job: RunningJob, ending: Ending, context: SettlementContext): Settlement | null {
  const { outcome, reason } = ending;
  switch (reason) {
    case null:
    case 'cancel':
      // A cancelled job ends cancelled whatever its holder says; the store sees to that.
      return outcome === null ? release(job, 'it was abandoned') : plain(job, outcome, context);
    case 'time-out':
    case 'silent':
      return plain(job, { kind: 'fail', failure: beyondLimit(job, ending, context.settings) }, context);
    case 'draining':
      return interrupted(job, outcome, context) ?? release(job, 'its worker stopped');
    case 'unreachable':
      return interrupted(job, outcome, context) ?? release(job, 'the store could not be reached');
    case 'lease-lost':
      return tooLate(job, outcome, context);
  }
}

/** What the work itself decided stands; a failure that may be the stop's own doing does not. */
function interrupted(job: RunningJob, outcome: RunOutcome | null, context: SettlementContext): Settlement | null {
  if (outcome === null || (outcome.kind === 'fail' && outcome.final !== true)) return null;
  return plain(job, outcome, context);
}

/** It will be refused, but the store keeps what it wanted to say. That the abort made it fail is no news. */
function tooLate(job: RunningJob, outcome: RunOutcome | null, context: SettlementContext): Settlement | null {
  if (outcome === null || outcome.kind === 'fail' || outcome.kind === 'release') return null;
  return plain(job, outcome, context);
}

function plain(job: RunningJob, outcome: RunOutcome, context: SettlementContext): Settlement {
  const { id, lease } = job;
  if (outcome.kind !== 'fail' && outcome.kind !== 'retry') return { id, token: lease.token, ...outcome };
  return { id, token: lease.token, ...outcome, delayMs: outcome.delayMs ?? delayAfterFailure(job, context) };
}

function delayAfterFailure(job: RunningJob, { settings, random }: SettlementContext): number {
  return backoffMs(job.policy.backoff ?? settings.backoff, job.failures + 1, random);
}

function release(job: RunningJob, reason: string): Settlement {
  return { id: job.id, token: job.lease.token, kind: 'release', reason };
}

function beyondLimit(job: RunningJob, { reason, outcome }: Ending, settings: QueueSettings): Failure {
  const { maxRuntimeMs, maxSilenceMs } = limitsOf(job, settings);
  const [group, message] =
    reason === 'silent'
      ? ['silent', `no sign of life for ${inSeconds(maxSilenceMs)}`]
      : ['timeout', `it ran longer than ${inSeconds(maxRuntimeMs)}`];
  return { group, message, detail: outcome === null ? 'it did not heed its signal, and may still be running' : null };
}

function inSeconds(ms: number | null): string {
  return ms === null ? 'it may' : `${ms / 1_000} s`;
}
