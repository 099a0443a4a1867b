// Long because Worqr has one class with all of its methods.
/**
 * Worqr's one class over Longhaul: the constructor, methods and events of Worqr, with its words (task, process, worker).
 *
 * It has no rules of its own. The core keeps the promises of Worqr's documents: a task goes to one worker, the tasks of a
 * failed worker return to the front and are announced, and only the worker that holds a process can end it.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Job } from '../../core/job/job.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import { checkQueueName } from '../../core/settings/settings-input.ts';
import { connect } from '../../library/connect.ts';
import type { Longhaul } from '../../library/longhaul.ts';
import { isRedisAddress } from '../../library/store-address.ts';
import { maintainWhileOpen } from '../shared/maintenance.ts';
import { Presence, taskOf } from './presence.ts';
import { countWaiting, type EventTarget, emitEvents, emitWork } from './worqr-events.ts';
import type { WorqrAddress, WorqrOptions } from './worqr-options.ts';
import { addressOf, leaseMsOf, WORQR_DEFAULTS, WORQR_QUEUE } from './worqr-options.ts';

/** A running task, as `dequeue` returns it. */
export interface WorqrProcess {
  /** The id of the process. */
  readonly id: string;
  /** The task. */
  readonly task: string;
}

const PAGE = 500;

/** Worqr's class: queues, tasks, processes and workers of one connection. */
export class Worqr extends EventEmitter {
  readonly #options: typeof WORQR_DEFAULTS & { workerId: string };
  readonly #longhaul: Promise<Longhaul>;
  readonly #presence: Presence;
  readonly #target: EventTarget;
  readonly #known = new Map<string, Promise<unknown>>();
  /** Queues on which this worker has stopped work: their events end. */
  readonly #stopped = new Set<string>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #isOwner: boolean;
  #emitting: Promise<void> = Promise.resolve();
  #unsubscribe = (): void => undefined;
  #stopMaintenance = (): void => undefined;

  constructor(address: WorqrAddress = {}, options: WorqrOptions = {}) {
    super();
    this.#options = { workerId: randomUUID(), ...WORQR_DEFAULTS, ...options };
    this.#isOwner = address.longhaul === undefined;
    this.#longhaul = this.#open(address, addressOf(address));
    this.#longhaul.catch((error: unknown) => this.#trouble(error));
    this.#presence = new Presence({
      workerId: this.#options.workerId,
      leaseMs: leaseMsOf(this.#options),
      longhaul: () => this.#longhaul,
      onLost: () => this.#trouble(new Error(`worker ${this.#options.workerId} was lost, and has registered again`)),
    });
    this.#target = {
      hasListener: (queue) => this.listenerCount(queue) > 0 && !this.#stopped.has(queue),
      worksOn: (queue) => this.#presence.queues.has(queue),
      emit: (queue, type, message) => {
        if (type === 'delete') this.#known.delete(queue);
        this.emit(queue, type, message);
      },
    };
  }

  // ── queues ──

  /** Lists the queues that have waiting tasks. */
  async getQueues(): Promise<string[]> {
    const counts = await (await this.#longhaul).queues();
    return counts.filter(({ waiting }) => waiting > 0).map(({ queue }) => queue);
  }

  /** Returns the next task of a queue without taking it; null when there is none. */
  async peekQueue(queue: string): Promise<string | null> {
    const [job] = await (await this.#longhaul).queue<string>(queue).peek(1);
    return job?.data ?? null;
  }

  /** Counts the waiting tasks of a queue. */
  async countQueue(queue: string): Promise<number> {
    return countWaiting(await this.#longhaul, queue);
  }

  /** Deletes the waiting tasks of a queue, and emits `delete`. Running tasks end with their workers. */
  async deleteQueue(queue: string): Promise<void> {
    const { store } = await this.#longhaul;
    for (;;) {
      const page = await store.jobs.list({ queue, state: 'waiting', order: 'newest', limit: PAGE });
      if (page.jobs.length === 0) break;
      await store.jobs.delete(page.jobs.map(({ id }) => id));
    }
    this.#known.delete(queue);
    await store.records.delete(QUEUE_RECORD, queue);
  }

  // ── tasks ──

  /** Adds a task, or several. Rejects a `unique` task while an equal unique task waits or runs in the queue. */
  async enqueue(queue: string, task: string | readonly string[], unique = false): Promise<void> {
    const tasks = Array.isArray(task) ? (task as readonly string[]) : [task as string];
    if (tasks.some((each) => typeof each !== 'string')) throw new TypeError('a task is a string');
    if (unique && Array.isArray(task)) throw new Error('Unique task array not currently supported');
    const made = await this.#queue(queue);
    const added = await made.addAll(tasks, (data) =>
      unique ? { unique: { key: data, scope: 'queue', until: 'ended' } } : {},
    );
    if (added.some(({ outcome }) => outcome === 'duplicate'))
      throw new Error('Trying to enqueue duplicate task in unique queue');
  }

  /** Lists the waiting tasks of a queue, the next one last. */
  async getTasks(queue: string): Promise<string[]> {
    const jobs = await listAll(await this.#longhaul, { queue, order: 'claim' });
    return jobs.map(taskOf).reverse();
  }

  /** Cancels all equal tasks in one step: waiting ones are removed, workers of running ones get `cancel`. */
  async cancelTasks(queue: string, task: string): Promise<void> {
    const longhaul = await this.#longhaul;
    const waiting = await listAll(longhaul, { queue, state: 'waiting', order: 'newest' });
    const running = await listAll(longhaul, { queue, state: 'running', order: 'newest' });
    const equal = [...waiting, ...running].filter((job) => taskOf(job) === task);
    if (equal.length > 0) await longhaul.store.jobs.cancel(equal.map(({ id }) => ({ id })));
  }

  // ── processes ──

  /** Takes the next task of a queue; null when there is none. */
  async dequeue(queue: string): Promise<WorqrProcess | null> {
    if (!this.#presence.queues.has(queue)) throw new Error(`this worker has not started work on ${queue}`);
    return this.#presence.claim(queue);
  }

  /** The same as `dequeue`. */
  async startTask(queue: string): Promise<WorqrProcess | null> {
    return this.dequeue(queue);
  }

  /** Lists the processes of this worker that run a task. */
  async getMatchingProcesses(task: string): Promise<string[]> {
    return [...this.#presence.held].filter(([, held]) => held.task === task).map(([id]) => id);
  }

  /** Returns the task of a process to the front of its queue. */
  async stopProcess(id: string): Promise<void> {
    await this.#presence.settle(id, { kind: 'release', reason: 'its process was stopped' });
  }

  /** The same as `stopProcess`. */
  async stopTask(id: string): Promise<void> {
    return this.stopProcess(id);
  }

  /** Completes the task of a process. */
  async finishProcess(id: string, result?: unknown): Promise<void> {
    await this.#presence.settle(id, {
      kind: 'complete',
      ...(result !== undefined && { result: JSON.stringify(result) }),
    });
  }

  /** The same as `finishProcess`. */
  async finishTask(id: string, result?: unknown): Promise<void> {
    return this.finishProcess(id, result);
  }

  // ── workers ──

  /** Returns the id of this worker. */
  getWorkerId(): string {
    return this.#options.workerId;
  }

  /** Registers this worker, and starts its timers. */
  async startWorker(): Promise<void> {
    if (this.#presence.isStarted) return;
    await this.#presence.register();
    const { workerHeartbeatInterval, workerCleanupInterval, debugMode, debugInterval } = this.#options;
    this.#every(workerHeartbeatInterval, () => this.keepWorkerAlive());
    this.#every(workerCleanupInterval, () => this.cleanupWorkers());
    if (debugMode) this.#every(debugInterval, async () => this.#emitDebug());
  }

  /** Renews the registration of this worker and the leases of its processes. */
  async keepWorkerAlive(): Promise<void> {
    await this.#presence.keepAlive();
  }

  /** Starts work on a queue: `work` events follow. */
  async startWork(queue: string): Promise<void> {
    if (!this.#presence.isStarted) throw new Error('start the worker first: startWorker()');
    await this.#queue(queue);
    this.#presence.queues.add(queue);
    this.#stopped.delete(queue);
    await this.keepWorkerAlive();
    await this.requestWork(queue);
  }

  /** Emits `work` if the queue has waiting tasks. */
  async requestWork(queue: string): Promise<void> {
    await emitWork(await this.#longhaul, queue, this.#target);
  }

  /** Ends work on a queue, and returns its running tasks to it. */
  async stopWork(queue: string): Promise<void> {
    this.#presence.queues.delete(queue);
    this.#stopped.add(queue);
    await this.#presence.returnTasks(new Set([queue]));
    await this.keepWorkerAlive();
  }

  /** Lists the ids of the live workers. */
  async getWorkers(): Promise<string[]> {
    return (await (await this.#longhaul).workers()).filter(({ isLost }) => !isLost).map(({ id }) => id);
  }

  /** Ends a worker: its tasks return to the front of their queues in one step, and are announced. */
  async failWorker(workerId: string = this.#options.workerId): Promise<void> {
    if (workerId === this.#options.workerId) {
      this.#stopTimers();
      for (const queue of this.#presence.queues) this.#stopped.add(queue);
      this.#presence.forget();
    }
    await (await this.#longhaul).failWorker(workerId);
  }

  /** Fails every worker whose registration has expired. */
  async cleanupWorkers(): Promise<void> {
    const longhaul = await this.#longhaul;
    const lost = (await longhaul.workers()).filter(({ isLost }) => isLost);
    for (const { id } of lost) await longhaul.failWorker(id);
  }

  /** Returns this worker's tasks, stops its timers, and closes the store unless the caller opened it. */
  async close(): Promise<void> {
    this.#stopTimers();
    const longhaul = await this.#longhaul.catch(() => null);
    if (longhaul === null) return;
    if (this.#presence.isStarted) await this.failWorker();
    this.#unsubscribe();
    this.#stopMaintenance();
    await this.#emitting;
    if (this.#isOwner) await longhaul.close();
  }

  async #open(given: WorqrAddress, address: string): Promise<Longhaul> {
    const longhaul = given.longhaul ?? (await this.#connect(address));
    this.#unsubscribe = longhaul.subscribe((events) => {
      this.#emitting = this.#emitting
        .then(() => emitEvents(longhaul, events, this.#target))
        .catch((error: unknown) => this.#trouble(error));
    });
    this.#stopMaintenance = maintainWhileOpen(longhaul.store, {
      onError: (error) => this.#trouble(error),
      everyMs: this.#options.workerCleanupInterval,
    }).stop;
    return longhaul;
  }

  #connect(address: string): Promise<Longhaul> {
    const isRedis = isRedisAddress(address);
    return connect(address, isRedis ? { namespace: this.#options.redisKeyPrefix } : {});
  }

  /** Returns a queue; sets Worqr's settings when it is first used. */
  async #queue(name: string) {
    const queue = (await this.#longhaul).queue<string>(checkQueueName(name));
    const made = this.#known.get(name) ?? queue.configure(WORQR_QUEUE);
    this.#known.set(name, made);
    await made;
    return queue;
  }

  #every(ms: number, act: () => Promise<unknown>): void {
    this.#timers.push(setInterval(() => void act().catch((error: unknown) => this.#trouble(error)), ms));
  }

  #stopTimers(): void {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
  }

  #emitDebug(): void {
    const now = Date.now();
    const jobs = [...this.#presence.held].map(([id, { since }]) => [id, { time: now - since }] as const);
    this.emit('debug', { jobCount: jobs.length, jobs: Object.fromEntries(jobs) });
  }

  /** An emitter without a listener for `error` would end the process. */
  #trouble(error: unknown): void {
    if (this.listenerCount('error') > 0) this.emit('error', error);
  }
}

/** Reads all pages of a list. */
async function listAll({ store }: Longhaul, query: Omit<JobQuery, 'limit'>): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (let after: string | undefined; ; ) {
    const page = await store.jobs.list({ ...query, limit: PAGE, ...(after && { after }) });
    jobs.push(...page.jobs);
    if (page.next === null) return jobs;
    after = page.next;
  }
}
