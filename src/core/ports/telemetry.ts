/**
 * The telemetry port: spans around adds and attempts. A connection or node without telemetry has none of these calls, so
 * it costs nothing there.
 */
import type { Failure, RunningJob } from '../job/job.ts';
import type { NewJob } from './job-store.ts';

/** What a span shows of the outcome of an attempt. */
export interface EndedAttempt {
  readonly kind: string;
  readonly failure?: Failure;
  readonly reason?: string;
}

export interface Telemetry {
  /** Adds jobs within a producer span, whose context each job carries. Jobs that carry a context keep it. */
  add<Result>(jobs: readonly NewJob[], send: (jobs: readonly NewJob[]) => Promise<Result>): Promise<Result>;
  /** Runs an attempt within a consumer span. The job that `run` gets carries the context of that span. */
  attempt<Ended extends EndedAttempt>(job: RunningJob, run: (job: RunningJob) => Promise<Ended>): Promise<Ended>;
}

/** What `connect` takes as `telemetry`. */
export interface TelemetrySource {
  /** Loads the packages that it needs. Rejects with the install command if one is missing. */
  open(): Promise<Telemetry>;
}
