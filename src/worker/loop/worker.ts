/**
 * The worker: claims jobs for its free slots, runs them, renews their leases and settles them.
 *
 * It never knows which store it has or what kind of work it runs. This file is its interface; queue-worker.ts implements it.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { AttemptRunner } from '../attempt/run-outcome.ts';
import type { StopReason } from '../attempt/stop-reason.ts';
import type { CapacityPool } from './capacity-pool.ts';
import { QueueWorker } from './queue-worker.ts';
import type { WorkerEvent } from './worker-event.ts';

export interface WorkerOptions {
  readonly store: Store;
  /** In order: jobs of the first queue are claimed before jobs of the second. */
  readonly queues: readonly string[];
  readonly concurrency: number;
  /** The upper limit of `resize`. Default: `concurrency`. */
  readonly maxConcurrency?: number;
  readonly run: AttemptRunner;
  /** Returns a queue's current settings: backoff, limits, grace. Called often, so it answers from memory. */
  settingsFor(queue: string): QueueSettings;
  readonly host: string;
  readonly pid: number;
  /** Further information to show about this worker: the JSON text of an object. */
  readonly info?: string;
  /** Its capacity for jobs that need resources, possibly shared with other workers. Default: none. */
  readonly pool?: CapacityPool;
  /** Default: the lease of each queue. */
  readonly leaseMs?: number;
  /** How long `stop` lets attempts continue. */
  readonly drainMs?: number;
  /** The worker drains when this many abandoned handlers still run. Default 10. */
  readonly maxAbandoned?: number;
  /** The runner ends cancelled work itself and verifies its end, so such an attempt is waited for. Default: false. */
  readonly enforcesStop?: boolean;
  /** Attempts end with this process: a store may answer a claim before it is on the disk. Default: false. */
  readonly endsWithProcess?: boolean;
  /** Kills the process when its main thread is blocked for this long. Default: never. */
  readonly maxBlockMs?: number;
  /** What happens to running attempts while the store is unavailable. Default: `stop` for a shared store, else `continue`. */
  readonly onUnreachable?: 'stop' | 'continue';
  /** Loads what the handlers need from the store; called before the first claim. */
  prepare?(): Promise<void>;
  /** Whether `start` waits for a store that is unavailable and emits `store-away`. Default: it rejects. */
  readonly waitsForStore?: boolean;
  /** The prefix of the files for settlements that cannot be delivered. Default: they are kept only in memory. */
  readonly journalPath?: string | null;
  /** The identity of the store, for the journal: a journal of another store is set aside. Default: unknown. */
  storeIdentity?(): Promise<string>;
  /** The runner reports the start itself; otherwise an attempt that lives for a second has started. */
  readonly reportsStart?: boolean;
  /** Attempts of an earlier process whose leases belong to this worker: adopted before the first claim. */
  readonly own?: readonly RunningJob[];
  random(): number;
  newId(): string;
  onEvent?(event: WorkerEvent): void;
}

export interface StopOptions {
  /** Default: the worker's `drainMs`. */
  readonly drainMs?: number;
  /** Asks every attempt to stop at once, without a drain. */
  readonly force?: boolean;
  /**
   * For attempts that outlive this process: they are not stopped, and their leases are extended to this, so that the
   * next process can adopt them.
   */
  readonly leaveMs?: number;
}

export interface RunningAttempt {
  readonly job: RunningJob;
  readonly stopReason: StopReason | null;
  /** It did not stop within its grace: its job is settled, and its slot stays taken until its code ends. */
  readonly isAbandoned: boolean;
}

export interface Worker {
  /** Changes when the worker was declared lost. */
  readonly id: string;
  /** Resolves when leases can be renewed and claiming begins, or when the worker was stopped before. */
  start(): Promise<void>;
  /** Resolves when nothing of the worker is left. A second call with `force` cuts the first one short. */
  stop(options?: StopOptions): Promise<void>;
  /** Stops claiming. Running attempts continue. */
  pause(): void;
  resume(): void;
  /** Changes how many jobs run at once, up to `maxConcurrency`. Running jobs continue. */
  resize(concurrency: number): void;
  /** Claims now: for tests that move the clock of the store. */
  wake(): void;
  /** Lists the attempts that take its slots, abandoned ones included. */
  running(): readonly RunningAttempt[];
}

export function createWorker(options: WorkerOptions): Worker {
  const { queues, concurrency } = options;
  if (queues.length === 0) throw badInput('worker', [{ path: 'queues', message: 'names no queue' }]);
  if (!Number.isSafeInteger(concurrency) || concurrency < 1)
    throw badInput('worker', [{ path: 'concurrency', message: 'must be a whole number from 1' }]);
  return new QueueWorker(options);
}
