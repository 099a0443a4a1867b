/**
 * The messages between a worker and an isolated process or thread. Both ends run the same build, so messages are not
 * validated. They are cloned (structured clone), so data may contain whatever the schema of a queue returns.
 */
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { StopReason } from '../../worker/attempt/stop-reason.ts';
import type { HandledJob } from '../active-job.ts';
import type { CallMessage } from './call-link.ts';

/** The data as the schema of the queue returned it; for a queue without a schema, as the store has it. */
export type IsolatedData = { readonly value: unknown } | { readonly text: string };

export type ToIsolate =
  /** `run` is the number of the job among those of the isolate. */
  | { readonly kind: 'run'; readonly run: number; readonly job: HandledJob; readonly data: IsolatedData }
  | CallMessage
  /** Aborts the signal of the running job. The isolate ends after it. */
  | { readonly kind: 'abort'; readonly reason: StopReason }
  /** Ends an idle isolate. */
  | { readonly kind: 'end' };

export type FromIsolate =
  | { readonly kind: 'ready' }
  /** The module cannot be used. */
  | { readonly kind: 'unusable'; readonly problem: string }
  | CallMessage
  /** Output of a thread. A process writes its output to its stdout. */
  | { readonly kind: 'output'; readonly text: string }
  | {
      readonly kind: 'outcome';
      readonly outcome: AttemptOutcome;
      /** The output of the job ends with the mark of the process. */
      readonly isMarked: boolean;
    };
