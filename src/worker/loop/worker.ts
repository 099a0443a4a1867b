/**
 * The worker: claims jobs for its free slots, has them run, keeps their leases and settles them.
 *
 * It never knows which store it has or what kind of work it runs. This is what it is given and what it can be asked;
 * how it works is in queue-worker.ts.
 */

import type { RunningJob } from '../../core/job/job.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { RunAttempt } from '../attempt/run-outcome.ts';
import type { StopReason } from '../attempt/stop-reason.ts';
import type { CapacityPool } from './capacity-pool.ts';
import { QueueWorker } from './queue-worker.ts';
import type { WorkerEvent } from './worker-event.ts';

export interface WorkerOptions {
  readonly store: Store;
  /** In order: what the first has is taken before the second is looked at. */
  readonly queues: readonly string[];
  readonly concurrency: number;
  /** The most that `resize` may ever ask for. Default: what it begins with. */
  readonly mostConcurrency?: number;
  readonly run: RunAttempt;
  /** A queue's present settings: back-off, limits, grace. Asked often, so answered from memory. */
  settingsFor(queue: string): QueueSettings;
  readonly host: string;
  readonly pid: number;
  /** Anything else to be shown of this worker, as the JSON text of an object. */
  readonly info?: string;
  /** What it offers to jobs that need something, maybe together with others. Default: nothing. */
  readonly pool?: CapacityPool;
  /** Default: each queue's own. */
  readonly leaseMs?: number;
  /** How long `stop` lets attempts go on. */
  readonly drainMs?: number;
  /** Kill the process when its main thread is blocked for so long. Default: never. */
  readonly maxBlockMs?: number;
  /** What becomes of running attempts when the store is away. Default: stop where it is shared, else continue. */
  readonly onUnreachable?: 'stop' | 'continue';
  /** Loads what the handlers need from the store, before the first claim. */
  prepare?(): Promise<void>;
  /** Whether `start` waits for a store that is unavailable and emits `store-away`. Default: it rejects. */
  readonly waitsForStore?: boolean;
  /** Where settlements wait that cannot be delivered: the beginning of file names. Default: in memory alone. */
  readonly journalPath?: string | null;
  /** The identity of the store, for the journal: a journal of another store is set aside. Default: unknown. */
  storeIdentity?(): Promise<string>;
  /** The runner says itself when the work began; otherwise an attempt that lives for a second has begun. */
  readonly saysStarted?: boolean;
  /** Attempts that an earlier process began and whose leases are ours: gone on with before anything is claimed. */
  readonly own?: readonly RunningJob[];
  random(): number;
  newId(): string;
  onEvent?(event: WorkerEvent): void;
}

export interface StopOptions {
  /** Default: the worker's own. */
  readonly drainMs?: number;
  /** Do not wait: tell every attempt to stop at once. */
  readonly force?: boolean;
  /**
   * For attempts that outlive this process: they are not told anything, and their leases are made so long that the
   * next process finds them its own.
   */
  readonly leaveMs?: number;
}

export interface RunningAttempt {
  readonly job: RunningJob;
  readonly stopReason: StopReason | null;
}

export interface Worker {
  /** Another one after the worker was declared lost. */
  readonly id: string;
  /** Resolved when leases can be kept, and claiming begins then; or when the worker was stopped before. */
  start(): Promise<void>;
  /** Resolved when nothing of it is left. A second call with `force` cuts the first one short. */
  stop(options?: StopOptions): Promise<void>;
  /** Stops claiming, and nothing else. */
  pause(): void;
  resume(): void;
  /** How many it runs at once from now on; what runs already goes on. Never beyond `mostConcurrency`. */
  resize(concurrency: number): void;
  /** Looks for work now: for whoever moves a clock that the store goes by. */
  wake(): void;
  running(): readonly RunningAttempt[];
}

export function createWorker(options: WorkerOptions): Worker {
  const { queues, concurrency } = options;
  if (queues.length === 0) throw badInput('worker', [{ path: 'queues', message: 'names no queue' }]);
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw badInput('worker', [{ path: 'concurrency', message: 'must be a whole number from 1' }]);
  return new QueueWorker(options);
}
