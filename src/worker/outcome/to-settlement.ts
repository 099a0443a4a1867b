/**
 * Decides what the outcome of an attempt means. Pure; no other part of the worker decides this.
 *
 * A stop is no fault of the job. An attempt that fails while its worker drains or its store is unavailable is released
 * and does not count as failed. An attempt that completes in spite of the stop has completed.
 */
import type { Failure, RunningJob } from '../../core/job/job.ts';
import { backoffMs } from '../../core/lifecycle/backoff.ts';
import type { Settlement } from '../../core/ports/job-store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { limitsOf } from '../attempt/attempt-limits.ts';
import type { AttemptOutcome } from '../attempt/run-outcome.ts';
import type { StopReason } from '../attempt/stop-reason.ts';

export interface SettlementContext {
  /** Why the attempt was stopped; null when it was not. */
  readonly stopReason: StopReason | null;
  readonly settings: QueueSettings;
  /** In [0, 1), for the backoff. */
  readonly random: number;
}

/** What history and failure say of an abandoned attempt. */
const NOT_HEEDED = 'it did not heed its signal, and its code may still run';

/** Returns the settlement, or null when the store has no use for one. An outcome of null: the attempt was abandoned. */
export function toSettlement(
  job: RunningJob,
  outcome: AttemptOutcome | null,
  context: SettlementContext,
): Settlement | null {
  switch (context.stopReason) {
    case null:
    case 'cancel':
      // The store ends a cancelled job as cancelled, whatever its outcome.
      return outcome === null ? releaseOf(job, NOT_HEEDED) : plain(job, outcome, context);
    case 'time-out':
    case 'silent':
      return plain(job, { kind: 'fail', failure: beyondLimit(job, outcome, context) }, context);
    case 'draining':
      return interrupted(job, outcome, context) ?? releaseOf(job, whyReleased('its worker stopped', outcome));
    case 'unreachable':
      return (
        interrupted(job, outcome, context) ?? releaseOf(job, whyReleased('the store could not be reached', outcome))
      );
    case 'lease-lost':
      return tooLate(job, outcome, context);
  }
}

export function releaseOf(job: RunningJob, reason: string): Settlement {
  return { id: job.id, token: job.lease.token, kind: 'release', reason };
}

/** Keeps what the handler decided itself. Returns null for a failure that the stop may have caused. */
function interrupted(job: RunningJob, outcome: AttemptOutcome | null, context: SettlementContext): Settlement | null {
  if (outcome === null || (outcome.kind === 'fail' && outcome.final !== true)) return null;
  return plain(job, outcome, context);
}

/** The store refuses this settlement, but records it as late. A failure caused by the abort is not worth recording. */
function tooLate(job: RunningJob, outcome: AttemptOutcome | null, context: SettlementContext): Settlement | null {
  if (outcome === null || outcome.kind === 'fail' || outcome.kind === 'release') return null;
  return plain(job, outcome, context);
}

function plain(job: RunningJob, outcome: AttemptOutcome, context: SettlementContext): Settlement {
  const { id, lease } = job;
  if (outcome.kind !== 'fail' && outcome.kind !== 'retry') return { id, token: lease.token, ...outcome };
  return { id, token: lease.token, ...outcome, delayMs: outcome.delayMs ?? delayAfterFailure(job, context) };
}

function delayAfterFailure(job: RunningJob, { settings, random }: SettlementContext): number {
  return backoffMs(job.policy.backoff ?? settings.backoff, job.failures + 1, random);
}

function beyondLimit(job: RunningJob, outcome: AttemptOutcome | null, context: SettlementContext): Failure {
  const { maxRuntimeMs, maxSilenceMs } = limitsOf(job, context.settings);
  const [group, message] =
    context.stopReason === 'silent'
      ? ['silent', `no sign of life for ${inSeconds(maxSilenceMs)}`]
      : ['timeout', `it ran longer than ${inSeconds(maxRuntimeMs)}`];
  return { group, message, detail: outcome === null ? NOT_HEEDED : null };
}

function whyReleased(why: string, outcome: AttemptOutcome | null): string {
  return outcome === null ? `${why}; ${NOT_HEEDED}` : why;
}

function inSeconds(ms: number | null): string {
  return ms === null ? 'it may' : `${ms / 1_000} s`;
}
