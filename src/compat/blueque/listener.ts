/**
 * Blueque's listener: waits for a task and reserves it, in one atomic step.
 *
 * It is woken by news and looks again every few seconds besides. Its id is host_pid, so that another listener of this
 * host can tell that it is dead and take over what it had reserved (`claimOrphan`).
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Job } from '../../core/job/job.ts';
import type { Client } from './client.ts';
import type { Task } from './task.ts';

const LOOK_EVERY_MS = 5_000;
const REGISTERED_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

/** Waits for tasks of a queue and reserves them. */
export class Listener {
  /** Its id: host_pid. */
  readonly id = `${hostname()}_${process.pid}`;
  /** The queue that it listens to. */
  readonly queueName: string;
  readonly #client: Client;
  #registering: NodeJS.Timeout | null = null;

  constructor(client: Client, queueName: string) {
    this.#client = client;
    this.queueName = queueName;
  }

  /** Resolved with the next task, now reserved for this listener. Rejects when the signal is aborted. */
  async listen(onNewTask?: (task: Task) => void, { signal }: { signal?: AbortSignal } = {}): Promise<Task> {
    await this.#register();
    const { store } = await this.#client.longhaul();
    const bell = createBell(signal);
    const unsubscribe = store.jobs.subscribe((events) => {
      if (events.some(({ queue, state }) => queue === this.queueName && state === 'waiting')) bell.ring();
    }, 'work');
    try {
      for (;;) {
        signal?.throwIfAborted();
        const task = await this.#reserve();
        if (task !== null) {
          onNewTask?.(task);
          return task;
        }
        await bell.rung(LOOK_EVERY_MS);
      }
    } finally {
      unsubscribe();
    }
  }

  /**
   * The first task of a dead listener of this host. One that was only reserved is reserved anew for this listener; one
   * that was started and whose process lives is answered as it is; one whose process is gone has failed.
   */
  async claimOrphan(): Promise<Task | null> {
    const { store } = await this.#client.longhaul();
    const page = await store.jobs.list({ queue: this.queueName, state: 'running', order: 'newest', limit: 1_000 });
    for (const job of page.jobs.toReversed().filter(({ lease }) => isDeadHere(lease?.worker ?? ''))) {
      const task = await this.#takeOver(job);
      if (task !== null) return task;
    }
    return null;
  }

  /** Stops being registered. Blueque's never did. */
  async close(): Promise<void> {
    if (this.#registering === null) return;
    clearInterval(this.#registering);
    this.#registering = null;
    await (await this.#client.longhaul()).store.jobs.endWorker({ id: this.id, kind: 'deregister' });
  }

  async #takeOver(job: Job): Promise<Task | null> {
    const { id, lease } = job;
    if (lease === null) return null;
    if (lease.startedAt !== null && lease.pid !== null && isAlive(lease.pid)) return this.#client.getTask(id);
    const { store } = await this.#client.longhaul();
    const attempt = { id, token: lease.token };
    if (lease.startedAt !== null) {
      const failure = { group: 'orphaned', message: `its process ${lease.pid} is gone`, detail: null };
      await store.jobs.settle([{ ...attempt, kind: 'fail', failure, delayMs: 0, final: true }]);
      return null;
    }
    // Released work is first in line, so that the claim gets this very task unless another listener was quicker.
    await store.jobs.settle([{ ...attempt, kind: 'release', reason: `listener ${lease.worker} is gone` }]);
    return this.#reserve();
  }

  async #reserve(): Promise<Task | null> {
    const { store } = await this.#client.longhaul();
    const request = { worker: this.id, queues: [this.queueName], limit: 1, requestId: randomUUID() };
    const [job] = (await store.jobs.claim(request)).jobs;
    return job === undefined ? null : this.#client.getTask(job.id);
  }

  async #register(): Promise<void> {
    if (this.#registering !== null) return;
    await this.#client.made(this.queueName);
    this.#registering = setInterval(() => void this.#beat().catch(() => undefined), RENEW_EVERY_MS);
    this.#registering.unref();
    await this.#beat();
  }

  async #beat(): Promise<void> {
    const about = { host: hostname(), pid: process.pid, queues: [this.queueName], info: '{"door":"blueque"}' };
    const { store } = await this.#client.longhaul();
    await store.jobs.keepWorker({ id: this.id, leaseMs: REGISTERED_MS, kind: 'register', ...about });
  }
}

/** Something that may ring before anybody waits for it. */
function createBell(signal: AbortSignal | undefined): { ring(): void; rung(withinMs: number): Promise<void> } {
  let hasRung = false;
  let wake = (): void => undefined;
  const ring = (): void => {
    hasRung = true;
    wake();
  };
  signal?.addEventListener('abort', ring);
  return {
    ring,
    async rung(withinMs) {
      const timer = setTimeout(ring, withinMs);
      if (!hasRung) await new Promise<void>((resolve) => (wake = resolve));
      clearTimeout(timer);
      hasRung = false;
    },
  };
}

function isDeadHere(listener: string): boolean {
  const [, host, pid] = /^(.*)_(\d+)$/.exec(listener) ?? [];
  return host === hostname() && !isAlive(Number(pid));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
