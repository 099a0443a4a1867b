/** The events of a worker, for logs and for the library. The worker does not depend on a listener. */
import type { RunningJob } from '../../core/job/job.ts';
import type { Settlement, SettleResult } from '../../core/ports/job-store.ts';
import type { AttemptOutcome } from '../attempt/run-outcome.ts';
import type { StopReason } from '../attempt/stop-reason.ts';

export type WorkerEvent =
  | { readonly type: 'started'; readonly job: RunningJob }
  /** The attempt is over and the store has answered. `settlement` is null when there was nothing to record. */
  | {
      readonly type: 'ended';
      readonly job: RunningJob;
      readonly settlement: Settlement | null;
      readonly answer: SettleResult | null;
      readonly stopReason: StopReason | null;
    }
  /** The attempt was asked to stop. */
  | { readonly type: 'stopping'; readonly job: RunningJob; readonly reason: StopReason }
  /** The attempt did not stop within its grace: it is settled, but its code may still run. Its slot stays taken until then. */
  | { readonly type: 'abandoned'; readonly job: RunningJob; readonly reason: StopReason }
  /** An abandoned attempt has ended after all. Its outcome is ignored; its slot is free again. May follow `stop`. */
  | {
      readonly type: 'late-outcome';
      readonly job: RunningJob;
      readonly reason: StopReason;
      readonly outcome: AttemptOutcome;
    }
  /** The worker claims nothing more, because of this many abandoned attempts. */
  | { readonly type: 'draining'; readonly abandoned: number; readonly reason: string }
  /** Enough abandoned attempts have ended: the worker claims again. */
  | { readonly type: 'resumed' }
  /** An operator asks a running job to pause, or to resume. */
  | { readonly type: 'pause-asked'; readonly job: RunningJob; readonly isAsked: boolean }
  | { readonly type: 'store-away'; readonly error: unknown }
  | { readonly type: 'store-back' }
  /** The main thread was blocked for this long. Emitted when it no longer is; the store learns it at once. */
  | { readonly type: 'blocked'; readonly ms: number }
  /** The worker was declared lost and continues under another id. */
  | { readonly type: 'restarted'; readonly from: string; readonly to: string }
  /** Settlements that an earlier process left on disk. A `delivered` event follows for each. */
  | { readonly type: 'journal-found'; readonly settlements: number }
  /** A journal of another store was renamed to this path; its settlements are not delivered here. */
  | { readonly type: 'journal-set-aside'; readonly path: string; readonly settlements: number }
  /** The store answered a settlement from the journal. */
  | { readonly type: 'delivered'; readonly settlement: Settlement; readonly answer: SettleResult | null }
  /** An unexpected error; the worker continues. */
  | { readonly type: 'trouble'; readonly what: string; readonly error: unknown };
