/**
 * A queue that the node works by itself, without a script: relay, rq_router. Its worker begins with the first job that
 * is there for it, so that a node that needs none has none.
 *
 *     asleep ──a job, or a lease that an earlier process of this home held──▶ working ──stop──▶ stopped
 *
 * Invariant: what an earlier process had under way is gone on with under its own lease, before anything is claimed: its
 * end was no fault of the job. Every run here can be begun anew.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { holds } from '../../core/lifecycle/lifecycle.ts';
import type { Store } from '../../core/ports/store.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { RunAttempt } from '../../worker/attempt/run-outcome.ts';
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
  /** The home folder: by it a worker of an earlier process is known as ours. */
  readonly home: string;
  readonly journalPath: string;
  readonly drain: DrainSwitch;
  /** Ids of workers, by which they are known as this node's. */
  newId(): string;
  onEvent(event: WorkerEvent): void;
  onTrouble(what: string, error: unknown): void;
}

export interface BuiltInQueue {
  readonly queue: string;
  /** What it is set to where nobody has set anything else. */
  readonly defaults: Partial<QueueSettings>;
  readonly run: RunAttempt;
}

/**
 * What is set for every queue is meant for those that people fill: limits, needs and times of theirs would hold up calls
 * and relays, or end them. What somebody sets for a built-in queue itself counts, and retention is inherited as ever.
 */
const NOT_OF_EVERY_QUEUE: Partial<QueueSettings> = {
  maxRunning: null,
  throttles: [],
  rate: null,
  needs: '',
  maxRuntimeMs: null,
  maxSilenceMs: null,
  hooks: [],
};

/** The net under events that were lost. */
const LOOK_EVERY_MS = 15_000;
const MOST_OWN = 1_000;
const MOST_CONCURRENCY = 256;
/** What is under way may end by itself for so long; then it is told to stop, and the next process has it. */
const DRAIN_MS = 1_000;

export class SystemQueue {
  readonly #parts: SystemQueueParts;
  readonly #built: BuiltInQueue;
  readonly #settings: SettingsCache;
  readonly #undo: (() => void)[] = [];
  #worker: Worker | null = null;
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(parts: SystemQueueParts, built: BuiltInQueue) {
    this.#parts = parts;
    this.#built = built;
    this.#settings = new SettingsCache(parts.store);
  }

  async start(): Promise<void> {
    const { queue } = this.#built;
    const unsubscribe = this.#parts.store.jobs.subscribe((events) => {
      if (events.some((event) => event.queue === queue)) this.#look();
    }, 'work');
    const timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    timer.unref();
    this.#undo.push(unsubscribe, () => clearInterval(timer));
    this.#look();
    await this.#last;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const undo of this.#undo.splice(0)) undo();
    await this.#last;
    await this.#worker?.stop({ drainMs: DRAIN_MS });
    this.#settings.close();
  }

  /** One look after the other. */
  #look(): void {
    this.#last = this.#last
      .then(() => (this.#isStopped ? undefined : this.#wakeOrResize()))
      .catch((error: unknown) => this.#parts.onTrouble(`the queue ${this.#built.queue} could not be looked at`, error));
  }

  async #wakeOrResize(): Promise<void> {
    const { queue } = this.#built;
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

  /** What somebody has set stays. */
  async #setDefaults(): Promise<void> {
    const { queue, defaults } = this.#built;
    const { records } = this.#parts.store;
    const record = await records.get(QUEUE_RECORD, queue);
    const before = record === null ? {} : (JSON.parse(record.value) as Partial<QueueSettings>);
    const value = JSON.stringify({ ...NOT_OF_EVERY_QUEUE, ...defaults, ...before });
    if (value !== record?.value)
      await records.put({ kind: QUEUE_RECORD, key: queue, value, ifVersion: record?.version ?? 0 });
  }

  #makeWorker(own: readonly RunningJob[]): Worker {
    const { store, host, pid, home, journalPath, newId, onEvent } = this.#parts;
    const { queue, run } = this.#built;
    const { concurrency } = this.#settings.at(queue);
    return createWorker({
      store,
      queues: [queue],
      concurrency,
      mostConcurrency: Math.max(concurrency, MOST_CONCURRENCY),
      own,
      run,
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

  /** Where others share the store, only what a worker of this very home held: its process is gone, since we have its lock. */
  async #findOwn(): Promise<readonly RunningJob[]> {
    const { store, host, home } = this.#parts;
    const { jobs } = store;
    const page = await jobs.list({ queue: this.#built.queue, state: 'running', order: 'newest', limit: MOST_OWN });
    const workers = store.isShared ? await jobs.workers() : [];
    const ours = new Set(
      workers.filter((each) => each.host === host && homeOf(each.info) === home).map(({ id }) => id),
    );
    const found = page.jobs.filter(({ lease }) => lease !== null && (!store.isShared || ours.has(lease.worker)));
    const held = found.filter((job): job is RunningJob => holds(job, job.lease?.token ?? -1));
    const beats = await jobs.heartbeat(held.map(({ id, lease }) => ({ id, token: lease.token })));
    return held.filter((_, place) => beats[place]?.ok === true);
  }
}

function homeOf(info: string): unknown {
  try {
    return (JSON.parse(info) as { home?: unknown }).home;
  } catch {
    return undefined;
  }
}
