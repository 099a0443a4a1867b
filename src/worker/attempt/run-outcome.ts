/**
 * The contract between the worker and a runner: what an attempt receives, and what it returns.
 *
 * A handler and a script are two runners of this shape. A runner returns the outcome as a value; one that throws has
 * failed. It never calls the store itself.
 */
import { failureOf, isFinal } from '../../core/job/failure.ts';
import type { Failure, RunningJob } from '../../core/job/job.ts';
import type { StopReason } from './stop-reason.ts';

/** The outcome of an attempt. The backoff of the job or its queue supplies a missing delay. */
export type AttemptOutcome =
  | {
      readonly kind: 'complete';
      /** JSON texts, as everywhere below the library. */
      readonly result?: string;
      readonly data?: string;
      readonly next?: { readonly queue: string; readonly delayMs: number; readonly dependsOn?: readonly string[] };
    }
  | { readonly kind: 'fail'; readonly failure: Failure; readonly final?: boolean; readonly delayMs?: number }
  | { readonly kind: 'retry'; readonly failure: Failure; readonly delayMs?: number; readonly throttle?: string }
  | { readonly kind: 'resend'; readonly delayMs: number; readonly reason: string }
  | { readonly kind: 'release'; readonly reason: string }
  /** The process that ran the attempt is gone. Counts as a crash, as if the lease had expired. */
  | { readonly kind: 'crash'; readonly reason: string }
  | { readonly kind: 'forward'; readonly address: string }
  /** The attempt waits for a time, an event or other jobs, and resumes later. */
  | {
      readonly kind: 'suspend';
      readonly until: number | null;
      readonly event: string | null;
      readonly children: readonly string[] | null;
    };

export interface AttemptContext {
  /** Aborts with an `AttemptAborted` that holds the reason (stop-reason.ts). */
  readonly signal: AbortSignal;
  /** Calls the listener when the signal aborts; at once if it has. Cheaper than a signal, for one listener. */
  onStop(listener: (reason: StopReason) => void): void;
  /** Reports progress. The last value wins; it is sent at most once a second, even while the main thread is blocked. */
  progress(percent: number | null, text?: string | null): void;
  /** Reports the last progress, which must not be lost with the end. Resolves when the store has it. */
  progressNow(percent: number | null, text: string | null): Promise<void>;
  /** Keeps a value for the next attempt. Resolves when the store has it; rejects when the lease was lost before. */
  checkpoint(value: string): Promise<void>;
  /** Replaces the job's data. Resolves like `checkpoint`. */
  replaceData(value: string): Promise<void>;
  /** Reports that the work started, in this process. Only for runners with `reportsStart`. */
  started(pid: number | null): void;
  /** Records a sign of life other than progress, such as output, for `maxSilence`. */
  alive(): void;
  /** Adds the run time under an earlier process, for `maxRuntime`. */
  ranBefore(ms: number): void;
  /** Pauses or resumes the clock of both limits. */
  pauseLimits(isPaused: boolean): void;
  /** Renews the lease now, which detects a cancel or a loss. Resolves when the store has answered. */
  heartbeatNow(): Promise<void>;
  /** Resolves when the lease is held for certain, mostly at once. Rejects when it was lost. */
  confirmLease(): Promise<void>;
}

export type AttemptRunner = (job: RunningJob, context: AttemptContext) => Promise<AttemptOutcome>;

/** Returns the outcome of a runner that threw. */
export function failedOutcome(error: unknown): AttemptOutcome {
  return { kind: 'fail', failure: failureOf(error), ...(isFinal(error) && { final: true }) };
}
