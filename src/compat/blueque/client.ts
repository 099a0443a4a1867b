/**
 * Blueque's client over Longhaul: creates queues, tasks, listeners and processors. It has no rules of its own.
 */
import { badInput } from '../../core/ports/errors.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import { connect } from '../../library/connect.ts';
import type { Longhaul } from '../../library/longhaul.ts';
import { isRedisAddress } from '../../library/store-address.ts';
import { isListening, Listener } from './listener.ts';
import { Processor } from './processor.ts';
import { Queue } from './queue.ts';
import { Registration } from './registration.ts';
import type { Task } from './task.ts';
import { taskOf } from './task.ts';

/** Options of a client. */
export interface ClientOptions {
  /** Redis: the prefix of every key. */
  readonly namespace?: string;
  /**
   * What `claimOrphan` does with a started task whose process is gone. `offer`, the default: returns it once, still
   * started, as Blueque does. `fail`: fails it.
   */
  readonly orphans?: 'offer' | 'fail';
}

/** For very long tasks: no time-out and no retention; only `deleteTask` deletes. */
export const BLUEQUE_QUEUE: SettingsInput = {
  retries: 0,
  onLost: 'hold',
  retention: {
    done: { for: null, count: null },
    failed: { for: null, count: null },
    cancelled: { for: null, count: null },
  },
};

/** Blueque's client: the way to queues, listeners, processors and tasks. */
export class Client {
  /** The address of its store; null for a client over a connection that the caller opened. */
  readonly address: { readonly url: string; readonly options: Pick<ClientOptions, 'namespace'> } | null;
  /** What happens to a started task whose process is gone. */
  readonly orphans: NonNullable<ClientOptions['orphans']>;
  /** This process as a listener. */
  readonly registration: Registration;
  readonly #longhaul: Promise<Longhaul>;
  readonly #made = new Map<string, Promise<unknown>>();

  /** `new Client('redis://hostname:port/db')`, or any address of Longhaul's, or an open connection. */
  constructor(where: string | Longhaul, options: ClientOptions = {}) {
    const { orphans = 'offer', ...others } = options;
    if (orphans !== 'offer' && orphans !== 'fail')
      throw badInput('blueque Client', [{ path: 'orphans', message: `must be offer or fail, not ${String(orphans)}` }]);
    this.orphans = orphans;
    const isRedis = typeof where === 'string' && isRedisAddress(where);
    this.address =
      typeof where === 'string' ? { url: where, options: isRedis ? { namespace: 'blueque', ...others } : {} } : null;
    this.#longhaul = typeof where === 'string' ? connect(where, this.address?.options) : Promise.resolve(where);
    // The first call rejects with the error. An unhandled rejection would end the process before that.
    this.#longhaul.catch(() => undefined);
    this.registration = new Registration(this);
  }

  /** Returns the connection of this client. */
  longhaul(): Promise<Longhaul> {
    return this.#longhaul;
  }

  /** Returns a queue. */
  getQueue(name: string): Queue {
    return new Queue(this, name);
  }

  /** Returns a listener of a queue. */
  getListener(queueName: string): Listener {
    return new Listener(this, queueName);
  }

  /** Returns a processor for a reserved task. */
  getProcessor(task: Task): Processor {
    return new Processor(this, task);
  }

  /** Returns a task as it is now. */
  async getTask(id: string): Promise<Task> {
    const { store } = await this.#longhaul;
    const [[job], rows] = await Promise.all([store.jobs.find([id]), store.jobs.history(id)]);
    return taskOf(id, job, { rows, now: Date.now() });
  }

  /** Lists every queue with the number of its listeners. */
  async getQueues(): Promise<readonly { name: string; listeners: number }[]> {
    const longhaul = await this.#longhaul;
    await this.registration.settled();
    const [counts, workers] = await Promise.all([longhaul.queues(), longhaul.workers()]);
    const present = workers.filter(isListening);
    const listened = present.flatMap(({ queues }) => queues);
    return [...new Set([...counts.map(({ queue }) => queue), ...listened])].map((name) => ({
      name,
      listeners: listened.filter((each) => each === name).length,
    }));
  }

  /** Returns a queue; sets Blueque's settings when it is first used. */
  async made(name: string) {
    const queue = (await this.#longhaul).queue<string, string>(name);
    const making = this.#made.get(name) ?? queue.configure(BLUEQUE_QUEUE);
    this.#made.set(name, making);
    await making;
    return queue;
  }

  /** Closes the connection, if this client opened it. */
  async close(): Promise<void> {
    const longhaul = await this.#longhaul.catch(() => null);
    if (this.address !== null) await longhaul?.close();
  }
}
