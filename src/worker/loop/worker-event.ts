/** What a worker tells of itself, for logs and for the library's events. Nothing depends on anybody listening. */
import type { RunningJob } from '../../core/job/job.ts';
import type { Settlement, SettleResult } from '../../core/ports/job-store.ts';
import type { StopReason } from '../attempt/stop-reason.ts';

export type WorkerEvent =
  | { readonly type: 'started'; readonly job: RunningJob }
  /** The attempt is over and the store has answered. `settlement` null: there was nothing to say any more. */
  | {
      readonly type: 'ended';
      readonly job: RunningJob;
      readonly settlement: Settlement | null;
      readonly answer: SettleResult | null;
      readonly stopReason: StopReason | null;
    }
  /** The attempt was told to stop. */
  | { readonly type: 'stopping'; readonly job: RunningJob; readonly reason: StopReason }
  /** It did not stop within its grace: its slot is free again, but its code may still be running. */
  | { readonly type: 'abandoned'; readonly job: RunningJob; readonly reason: StopReason }
  /** Somebody asks a running job to pause, or to go on. */
  | { readonly type: 'pause-asked'; readonly job: RunningJob; readonly isAsked: boolean }
  | { readonly type: 'store-away'; readonly error: unknown }
  | { readonly type: 'store-back' }
  /** The main thread has not come round for so long. Told when it has; the store is told at once. */
  | { readonly type: 'blocked'; readonly ms: number }
  /** The worker was declared lost and goes on under another id. */
  | { readonly type: 'restarted'; readonly from: string; readonly to: string }
  /** Settlements that an earlier process left on disk, and what became of them is told by `delivered`. */
  | { readonly type: 'journal-found'; readonly settlements: number }
  /** A journal of another store was renamed to this path; its settlements are not delivered here. */
  | { readonly type: 'journal-set-aside'; readonly path: string; readonly settlements: number }
  /** A settlement that waited for the store has its answer. */
  | { readonly type: 'delivered'; readonly settlement: Settlement; readonly answer: SettleResult | null }
  /** Something that should not happen; the worker goes on. */
  | { readonly type: 'trouble'; readonly what: string; readonly error: unknown };
