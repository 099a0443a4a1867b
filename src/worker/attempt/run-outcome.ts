/**
 * What one attempt is given and what it answers: the whole contract between the worker and whoever does the work.
 *
 * A handler and a script are two runners of this one shape. A runner answers how the work ended as a value; one
 * that throws has failed. It never speaks to the store itself.
 */
import type { Failure, RunningJob } from '../../core/job/job.ts';

/** How the work ended. A delay that is left out is worked out from the back-off of the job or its queue. */
export type RunOutcome =
  | {
      readonly kind: 'complete';
      /** JSON texts, as everywhere below the library. */
      readonly result?: string;
      readonly data?: string;
      readonly next?: { readonly queue: string; readonly delayMs: number; readonly dependsOn?: readonly string[] };
    }
  | { readonly kind: 'fail'; readonly failure: Failure; readonly final?: boolean; readonly delayMs?: number }
  | { readonly kind: 'retry'; readonly failure: Failure; readonly delayMs?: number }
  | { readonly kind: 'resend'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'release'; readonly reason: string }
  /** What ran it is gone without a word: counted as a crash, as if its lease had ended. */
  | { readonly kind: 'crash'; readonly reason: string }
  | { readonly kind: 'forward'; readonly address: string };

export interface AttemptContext {
  /** Aborts with an `AttemptAborted` that says why (stop-reason.ts). */
  readonly signal: AbortSignal;
  /** The last one wins; sent at most once a second, also while the main thread is blocked. */
  progress(percent: number | null, text?: string | null): void;
  /** For the last one, which must not get lost with the end. Resolved when the store has it. */
  progressNow(percent: number | null, text: string | null): Promise<void>;
  /** Resolved when the store has it; rejected when the lease was lost before. May be left unawaited. */
  checkpoint(value: string): Promise<void>;
  /** Replaces the job's data, as a checkpoint does its checkpoint. */
  replaceData(value: string): Promise<void>;
  /** The work began, as this process. Only for runners that say so themselves (`saysStarted`). */
  started(pid: number | null): void;
  /** A sign of life other than progress (output): for `maxSilence`. */
  alive(): void;
  /** It ran for so long under an earlier process: for `maxRuntime`. */
  ranBefore(ms: number): void;
  /** It was paused, or goes on: the limits stand still meanwhile. */
  standStill(isStill: boolean): void;
  /** Renews the lease now, and so learns of a cancel or a loss. Resolved when the store has answered. */
  heartbeatNow(): Promise<void>;
}

export type RunAttempt = (job: RunningJob, context: AttemptContext) => Promise<RunOutcome>;
