/**
 * A Worqr worker's presence: its registration, which lasts as long as its timer is wound, and the tasks it holds.
 *
 * A worker that comes too late finds itself failed: its tasks are somebody else's by then, so it forgets them and
 * registers anew. It never settles what it does not hold.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Job } from '../../core/job/job.ts';
import type { Longhaul } from '../../library/longhaul.ts';

/** A task that is being worked on. */
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

  /** Winds the timer of the worker and those of its tasks, in this order: a failed worker holds nothing. */
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

  /** Ends what this worker holds; a stranger's id, or one that was given away, is refused. */
  async settle(id: string, how: TaskEnd): Promise<void> {
    const held = this.held.get(id);
    if (held === undefined) throw new Error(`process ${id} is not one of this worker's`);
    const { jobs } = (await this.#options.longhaul()).store;
    const [answer] = await jobs.settle([{ ...how, id, token: held.token }]);
    this.held.delete(id);
    if (answer?.ok === false) throw new Error(answer.refusal.message);
  }

  /** Gives back what is held of these queues, to their front. */
  async giveBack(queues: ReadonlySet<string>): Promise<void> {
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
    const about = { host: hostname(), pid: process.pid, queues: [...this.queues], info: '{"door":"worqr"}' };
    return (await jobs.keepWorker({ id, leaseMs, kind, ...about })).ok;
  }
}

/** Tasks are texts and stay what they are. */
export function taskOf({ data }: Pick<Job, 'data'>): string {
  const task: unknown = JSON.parse(data);
  return typeof task === 'string' ? task : data;
}
