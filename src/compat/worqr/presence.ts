/**
 * A Worqr worker's presence: its registration, which heartbeats renew, and the tasks it holds.
 *
 * A worker whose registration has expired is lost, and its tasks go to other workers: it drops them and registers again.
 * It never settles a task that it does not hold.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Job } from '../../core/job/job.ts';
import type { Longhaul } from '../../library/longhaul.ts';

/** A task that this worker runs. */
export interface Held {
  readonly queue: string;
  readonly token: number;
  readonly task: string;
  readonly since: number;
}

/** How a task ends: for good, or back at the front of its queue. */
export type TaskEnd =
  | { readonly kind: 'complete'; readonly result?: string }
  | { readonly kind: 'release'; readonly reason: string };

export interface PresenceOptions {
  readonly workerId: string;
  readonly leaseMs: number;
  longhaul(): Promise<Longhaul>;
  onLost(): void;
}

export class Presence {
  readonly queues = new Set<string>();
  readonly held = new Map<string, Held>();
  readonly #options: PresenceOptions;
  #isStarted = false;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  async register(): Promise<void> {
    await this.#beat('register');
    this.#isStarted = true;
  }

  /** Renews the registration and then the leases of the tasks, in this order: a lost worker holds none. */
  async keepAlive(): Promise<void> {
    if (!this.#isStarted) return;
    if (!(await this.#beat('renew'))) {
      this.held.clear();
      await this.register();
      this.#options.onLost();
      return;
    }
    const { jobs } = (await this.#options.longhaul()).store;
    const beats = [...this.held].map(([id, { token }]) => ({ id, token, leaseMs: this.#options.leaseMs }));
    const answers = beats.length === 0 ? [] : await jobs.heartbeat(beats);
    for (const [place, answer] of answers.entries()) if (!answer.ok) this.held.delete(beats[place]?.id ?? '');
  }

  async claim(queue: string): Promise<{ id: string; task: string } | null> {
    const { workerId: worker, leaseMs } = this.#options;
    const { jobs } = (await this.#options.longhaul()).store;
    const answer = await jobs.claim({ worker, queues: [queue], limit: 1, leaseMs, requestId: randomUUID() });
    const [job] = answer.jobs;
    if (job === undefined) return null;
    this.held.set(job.id, { queue, token: job.lease?.token ?? 0, task: taskOf(job), since: Date.now() });
    return { id: job.id, task: taskOf(job) };
  }

  /** Settles a task that this worker holds. Any other id is refused. */
  async settle(id: string, how: TaskEnd): Promise<void> {
    const held = this.held.get(id);
    if (held === undefined) throw new Error(`process ${id} is not one of this worker's`);
    const { jobs } = (await this.#options.longhaul()).store;
    const [answer] = await jobs.settle([{ ...how, id, token: held.token }]);
    this.held.delete(id);
    if (answer?.ok === false) throw new Error(answer.refusal.message);
  }

  /** Returns the tasks of these queues to their front. */
  async returnTasks(queues: ReadonlySet<string>): Promise<void> {
    for (const [id, { queue }] of this.held) {
      if (queues.has(queue)) await this.settle(id, { kind: 'release', reason: 'its worker stopped' });
    }
  }

  forget(): void {
    this.#isStarted = false;
    this.queues.clear();
    this.held.clear();
  }

  async #beat(kind: 'register' | 'renew'): Promise<boolean> {
    const { workerId: id, leaseMs } = this.#options;
    const { jobs } = (await this.#options.longhaul()).store;
    const about = { host: hostname(), pid: process.pid, queues: [...this.queues], info: '{"compat":"worqr"}' };
    return (await jobs.keepWorker({ id, leaseMs, kind, ...about })).ok;
  }
}

/** Returns the text of a task, unchanged. */
export function taskOf({ data }: Pick<Job, 'data'>): string {
  const task: unknown = JSON.parse(data);
  return typeof task === 'string' ? task : data;
}
