/**
 * A queue that the node runs itself, without a script: relay, rq_router, hooks. Its worker starts with the first job,
 * so that an unused queue costs nothing.
 *
 *     idle ──a job, or a lease of an earlier process of this data directory──▶ running ──stop──▶ stopped
 *
 * Invariant: attempts of an earlier process continue under their own leases before anything is claimed: the job is not
 * at fault. Every run here can be repeated from the start.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { holds } from '../../core/lifecycle/lifecycle.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Telemetry } from '../../core/ports/telemetry.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { AttemptRunner } from '../../worker/attempt/run-outcome.ts';
import { tracedRunner, tracedRunnerOf } from '../../worker/attempt/traced-runner.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import type { Worker } from '../../worker/loop/worker.ts';
import { createWorker } from '../../worker/loop/worker.ts';
import type { WorkerEvent } from '../../worker/loop/worker-event.ts';
import { storeIdentity } from '../../worker/outcome/store-identity.ts';
import type { DrainSwitch } from '../cluster/drain-switch.ts';

export interface SystemQueueParts {
  readonly store: Store;
  readonly host: string;
  readonly pid: number;
  /** The data directory, which identifies workers of earlier processes as this node's. */
  readonly home: string;
  readonly journalPath: string;
  readonly drain: DrainSwitch;
  /** Spans for its attempts. Default: none. */
  readonly telemetry?: Telemetry | null;
  /** Creates worker ids that identify this node. */
  newId(): string;
  onEvent(event: WorkerEvent): void;
  onTrouble(what: string, error: unknown): void;
}

export interface SystemQueueDefinition {
  readonly queue: string;
  /** Defaults for settings that the operator has not set. */
  readonly defaults: Partial<QueueSettings>;
  readonly run: AttemptRunner;
  /** Returns the trace context of a job that belongs to the trace of another one. */
  contextOf?(job: RunningJob): Promise<string | undefined>;
  /** Whether a script of this node runs the queue instead. */
  isReplaced?(): boolean;
}

/**
 * Settings for every queue are meant for user queues: such limits, resources and timeouts would delay or end webhooks
 * and relays. Settings of a system queue itself apply, and retention is inherited as usual.
 */
const NOT_INHERITED: Partial<QueueSettings> = {
  maxRunning: null,
  throttles: [],
  rate: null,
  needs: '',
  maxRuntimeMs: null,
  maxSilenceMs: null,
  hooks: [],
};

/** Catches up on lost events. */
const POLL_INTERVAL_MS = 15_000;
const MAX_OWN = 1_000;
const MAX_CONCURRENCY = 256;
/** Time for running attempts to end at a stop. Then they are aborted, and the next process continues them. */
const DRAIN_MS = 1_000;

export class SystemQueue {
  readonly #parts: SystemQueueParts;
  readonly #definition: SystemQueueDefinition;
  readonly #settings: SettingsCache;
  readonly #undo: (() => void)[] = [];
  #worker: Worker | null = null;
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(parts: SystemQueueParts, definition: SystemQueueDefinition) {
    this.#parts = parts;
    this.#definition = definition;
    this.#settings = new SettingsCache(parts.store);
  }

  async start(): Promise<void> {
    const { queue } = this.#definition;
    const unsubscribe = this.#parts.store.jobs.subscribe((events) => {
      if (events.some((event) => event.queue === queue)) this.#poll();
    }, 'work');
    const timer = setInterval(() => this.#poll(), POLL_INTERVAL_MS);
    timer.unref();
    this.#undo.push(unsubscribe, () => clearInterval(timer));
    this.#poll();
    await this.#last;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#last;
    await this.#worker?.stop({ drainMs: DRAIN_MS });
    this.#settings.close();
  }

  /** Runs polls one after the other. */
  #poll(): void {
    this.#last = this.#last
      .then(() => (this.#isStopped ? undefined : this.#wakeOrResize()))
      .catch((error: unknown) =>
        this.#parts.onTrouble(`failed to poll the system queue ${this.#definition.queue}`, error),
      );
  }

  async #wakeOrResize(): Promise<void> {
    const { queue, isReplaced } = this.#definition;
    if (this.#worker === null && isReplaced?.() === true) return;
    if (this.#worker !== null) return this.#worker.resize((await this.#settings.read(queue)).concurrency);
    const [counts] = await this.#parts.store.jobs.count([queue]);
    if (counts === undefined || counts.waiting + counts.running === 0) return;
    await this.#setDefaults();
    await this.#settings.follow([queue]);
    const worker = this.#makeWorker(await this.#findOwn());
    this.#undo.push(this.#parts.drain.listen((isDraining) => (isDraining ? worker.pause() : worker.resume())));
    await worker.start();
    this.#worker = worker;
  }

  /** Existing settings stay. */
  async #setDefaults(): Promise<void> {
    const { queue, defaults } = this.#definition;
    const { records } = this.#parts.store;
    const record = await records.get(QUEUE_RECORD, queue);
    const before = record === null ? {} : (JSON.parse(record.value) as Partial<QueueSettings>);
    const value = JSON.stringify({ ...NOT_INHERITED, ...defaults, ...before });
    if (value !== record?.value)
      await records.put({ kind: QUEUE_RECORD, key: queue, value, ifVersion: record?.version ?? 0 });
  }

  #makeWorker(own: readonly RunningJob[]): Worker {
    const { store, host, pid, home, journalPath, newId, onEvent } = this.#parts;
    const { queue } = this.#definition;
    const { concurrency } = this.#settings.at(queue);
    return createWorker({
      store,
      queues: [queue],
      concurrency,
      maxConcurrency: Math.max(concurrency, MAX_CONCURRENCY),
      own,
      run: this.#tracedRun(),
      settingsFor: (name) => this.#settings.at(name),
      host,
      pid,
      info: JSON.stringify({ home, builtIn: true }),
      journalPath,
      storeIdentity: () => storeIdentity(store.records),
      random: Math.random,
      newId,
      onEvent,
    });
  }

  #tracedRun(): AttemptRunner {
    const { telemetry = null } = this.#parts;
    const { run, contextOf } = this.#definition;
    return contextOf === undefined ? tracedRunner(run, telemetry) : tracedRunnerOf(run, telemetry, contextOf);
  }

  /**
   * Finds running jobs of an earlier process. On a shared store these are the jobs held by workers of this data
   * directory; their process is gone, since this one holds the lock.
   */
  async #findOwn(): Promise<readonly RunningJob[]> {
    const { store, host, home } = this.#parts;
    const { jobs } = store;
    const page = await jobs.list({ queue: this.#definition.queue, state: 'running', order: 'newest', limit: MAX_OWN });
    const workers = store.isShared ? await jobs.workers() : [];
    const ours = new Set(
      workers.filter((each) => each.host === host && homeOf(each.info) === home).map(({ id }) => id),
    );
    const found = page.jobs.filter(({ lease }) => lease !== null && (!store.isShared || ours.has(lease.worker)));
    const held = found.filter((job): job is RunningJob => holds(job, job.lease?.token ?? -1));
    const beats = await jobs.heartbeat(held.map(({ id, lease }) => ({ id, token: lease.token })));
    return held.filter((_, index) => beats[index]?.ok === true);
  }
}

function homeOf(info: string): unknown {
  try {
    return (JSON.parse(info) as { home?: unknown }).home;
  } catch {
    return undefined;
  }
}
