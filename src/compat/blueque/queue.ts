/** Blueque's queue: adds tasks, now or for later, lists them, and deletes ended ones. */
import type { Job, JobState } from '../../core/job/job.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import type { Client } from './client.ts';
import { isListening } from './listener.ts';
import type { Task } from './task.ts';

const PAGE = 500;

/** A queue of tasks. */
export class Queue {
  /** Its name. */
  readonly name: string;
  readonly #client: Client;

  constructor(client: Client, name: string) {
    this.#client = client;
    this.name = name;
  }

  /** Adds a task. Returns its id. */
  async enqueue(parameters: string): Promise<string> {
    return this.#add(parameters, {});
  }

  /** Adds a task for later: `eta` is in seconds since 1970. A time that has passed means now. */
  async schedule(parameters: string, eta: number): Promise<string> {
    if (!Number.isFinite(eta)) throw new TypeError(`eta must be a number of seconds since 1970, not ${eta}`);
    return eta * 1_000 <= Date.now()
      ? this.#add(parameters, {})
      : this.#add(parameters, { runAt: Math.round(eta * 1_000) });
  }

  /**
   * Returns the ids of scheduled tasks that are due and not yet reserved. Due tasks are pending without this call; in
   * Blueque a process has to call it.
   */
  async enqueueDueTasks(): Promise<string[]> {
    const waiting = await this.#jobs({ state: 'waiting' });
    const now = Date.now();
    return waiting.filter(({ runAt, createdAt }) => runAt > createdAt && runAt <= now).map(({ id }) => id);
  }

  /** Deletes a complete or failed task of this queue. */
  async deleteTask(task: Task): Promise<void> {
    const seen = await this.#client.getTask(task.id);
    if (seen.queue !== this.name) throw new RangeError(`task ${task.id} is not in queue ${this.name}`);
    if (seen.status !== 'complete' && seen.status !== 'failed')
      throw new RangeError(`task ${task.id} is ${seen.status}: only a complete or failed one can be deleted`);
    const { store } = await this.#client.longhaul();
    const [answer] = await store.jobs.delete([task.id]);
    if (answer?.ok === false) throw new RangeError(answer.refusal.message);
  }

  /** Lists the tasks of every status, the newest first. */
  async getTasks(): Promise<string[]> {
    return (await this.#jobs({})).map(({ id }) => id);
  }

  /** Lists the started tasks with their listener and pid: Blueque's set `started_tasks`. */
  async getStartedTasks(): Promise<{ listener: string; pid: number | null; task: string }[]> {
    const running = await this.#jobs({ state: 'running' });
    return running.flatMap(({ id, lease }) =>
      lease === null || lease.startedAt === null ? [] : [{ listener: lease.worker, pid: lease.pid, task: id }],
    );
  }

  /** Lists the pending tasks, the next one last: Blueque's list `pending_tasks`. */
  async getPendingTasks(): Promise<string[]> {
    return ids(await this.#jobs({ order: 'claim' })).reverse();
  }

  /** Lists what a listener has reserved or started, the latest first: Blueque's list `reserved_tasks`. */
  async getReservedTasks(listener: string): Promise<string[]> {
    const running = await this.#jobs({ state: 'running' });
    const own = running.filter(({ lease }) => lease?.worker === listener);
    return ids(own.sort((a, b) => (b.lease?.token ?? 0) - (a.lease?.token ?? 0)));
  }

  /** Lists the scheduled tasks, the next one first: Blueque's sorted set `scheduled_tasks`. */
  async getScheduledTasks(): Promise<string[]> {
    const now = Date.now();
    const later = (await this.#jobs({ state: 'waiting' })).filter(({ runAt }) => runAt > now);
    return ids(later.sort((a, b) => a.runAt - b.runAt));
  }

  /** Lists the complete tasks, the latest first: Blueque's list `complete_tasks`. */
  async getCompleteTasks(): Promise<string[]> {
    return ids(latestFirst(await this.#jobs({ state: 'done' })));
  }

  /** Lists the failed tasks, the latest first: Blueque's list `failed_tasks`. */
  async getFailedTasks(): Promise<string[]> {
    const failed = [...(await this.#jobs({ state: 'failed' })), ...(await this.#jobs({ state: 'cancelled' }))];
    return ids(latestFirst(failed));
  }

  /** Lists the ids of the live listeners of this queue. */
  async getListeners(): Promise<string[]> {
    await this.#client.registration.settled();
    const workers = await (await this.#client.longhaul()).workers();
    return workers.filter((worker) => isListening(worker) && worker.queues.includes(this.name)).map(({ id }) => id);
  }

  async #add(parameters: string, when: { runAt?: number }): Promise<string> {
    if (typeof parameters !== 'string') throw new TypeError('parameters are a string');
    return (await (await this.#client.made(this.name)).add(parameters, when)).id;
  }

  async #jobs(query: { state?: JobState; order?: JobQuery['order'] }): Promise<Job[]> {
    const { store } = await this.#client.longhaul();
    const jobs: Job[] = [];
    for (let after: string | undefined; ; ) {
      const page = await store.jobs.list({
        order: 'newest',
        ...query,
        queue: this.name,
        limit: PAGE,
        ...(after && { after }),
      });
      jobs.push(...page.jobs);
      if (page.next === null) return jobs;
      after = page.next;
    }
  }
}

const ids = (jobs: readonly Job[]): string[] => jobs.map(({ id }) => id);

const latestFirst = (jobs: Job[]): Job[] => jobs.sort((a, b) => (b.endedAt ?? 0) - (a.endedAt ?? 0));
