/**
 * The messages between a worker and an isolated process or thread. Both ends run the same build, so messages are not
 * validated. They are cloned (structured clone), so data may contain whatever the schema of a queue returns.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { ErrorCode } from '../../core/ports/errors.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { StopReason } from '../../worker/attempt/stop-reason.ts';
import type { HandlerPort } from '../active-job.ts';

/** The calls of a handler that the worker answers. `signal` and `log` have ways of their own. */
export type PortCall = Exclude<keyof HandlerPort, 'signal' | 'log'>;

/** The data as the schema of the queue returned it; null for a queue without a schema. */
export type CheckedData = { readonly value: unknown } | null;

export type ToIsolate =
  | { readonly kind: 'run'; readonly job: RunningJob; readonly data: CheckedData }
  | { readonly kind: 'answer'; readonly call: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly call: number; readonly message: string; readonly code: ErrorCode | null }
  /** Aborts the signal of the running job. The isolate ends after it. */
  | { readonly kind: 'abort'; readonly reason: StopReason }
  /** Ends an idle isolate. */
  | { readonly kind: 'end' };

export type FromIsolate =
  | { readonly kind: 'ready' }
  /** The module cannot be used. */
  | { readonly kind: 'unusable'; readonly problem: string }
  /** A call of the handler; `call` is null when no answer is expected. */
  | { readonly kind: 'call'; readonly call: number | null; readonly name: PortCall; readonly args: readonly unknown[] }
  /** Output of a thread. A process writes its output to its stdout. */
  | { readonly kind: 'output'; readonly text: string }
  | {
      readonly kind: 'outcome';
      readonly outcome: AttemptOutcome;
      readonly rssBytes: number;
      /** The output of the job ends with the mark of the process. */
      readonly isMarked: boolean;
    };
