/**
 * Blueque's listener: waits for a task and reserves it, in one atomic step.
 *
 * Events wake it, and it polls every few seconds as well. Its id is host_pid: another listener of this host finds out
 * that its process is dead, and takes over the tasks that it had reserved (`claimOrphan`).
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Job } from '../../core/job/job.ts';
import type { WorkerRecord } from '../../core/ports/job-store.ts';
import type { Client } from './client.ts';
import type { Task } from './task.ts';

const POLL_EVERY_MS = 5_000;
/** The retention of the record that an orphan was offered. */
const OFFERED_MS = 365 * 86_400_000;

/** Waits for tasks of a queue and reserves them. */
export class Listener {
  /** The queue that it listens to. */
  readonly queueName: string;
  readonly #client: Client;
  #registered: Promise<void> | null;

  constructor(client: Client, queueName: string) {
    this.#client = client;
    this.queueName = queueName;
    this.#registered = client.registration.add(queueName);
    // The first call rejects with the error. An unhandled rejection would end the process before that.
    this.#registered.catch(() => undefined);
  }

  /** Its id: host_pid. */
  get id(): string {
    return this.#client.registration.id;
  }

  /** Reserves the next task for this listener and returns it. Rejects when the signal is aborted. */
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
        await bell.rung(POLL_EVERY_MS);
      }
    } finally {
      unsubscribe();
    }
  }

  /**
   * Returns a task of a dead listener of this host, each once. One that was only reserved is reserved anew for this
   * listener. One that was started is returned as it is, whether its process lives or not; with the client's option
   * `orphans: 'fail'` one whose process is gone fails instead.
   */
  async claimOrphan(): Promise<Task | null> {
    await this.#register();
    const { store } = await this.#client.longhaul();
    const page = await store.jobs.list({ queue: this.queueName, state: 'running', order: 'newest', limit: 1_000 });
    for (const job of page.jobs.filter(({ lease }) => isDeadHere(lease?.worker ?? ''))) {
      const task = await this.#takeOver(job);
      if (task !== null) return task;
    }
    return null;
  }

  /** Ends the registration. Blueque never ends it. */
  async close(): Promise<void> {
    if (this.#registered === null) return;
    this.#registered = null;
    await this.#client.registration.remove(this.queueName);
  }

  async #takeOver(job: Job): Promise<Task | null> {
    const { id, lease } = job;
    if (lease === null) return null;
    const { store } = await this.#client.longhaul();
    await store.jobs.endWorker({ id: lease.worker, kind: 'deregister' });
    const attempt = { id, token: lease.token };
    if (lease.startedAt === null) {
      // Released work is first in line, so that the claim gets this very task unless another listener was quicker.
      await store.jobs.settle([{ ...attempt, kind: 'release', reason: `listener ${lease.worker} is gone` }]);
      return this.#reserve();
    }
    const isGone = lease.pid === null || !isAlive(lease.pid);
    if (isGone && this.#client.orphans === 'fail') {
      const failure = { group: 'orphaned', message: `its process ${lease.pid} is gone`, detail: null };
      await store.jobs.settle([{ ...attempt, kind: 'fail', failure, delayMs: 0, final: true }]);
      return null;
    }
    return (await this.#isFirst(attempt)) ? this.#client.getTask(id) : null;
  }

  /** Returns whether no listener was offered this attempt before: the record is created once. */
  async #isFirst({ id, token }: { id: string; token: number }): Promise<boolean> {
    const { store } = await this.#client.longhaul();
    const expiresAt = Date.now() + OFFERED_MS;
    const offer = { kind: 'blueque-orphan', key: `${id}:${token}`, value: JSON.stringify(this.id), expiresAt };
    return (await store.records.put({ ...offer, ifVersion: 0 })).ok;
  }

  async #reserve(): Promise<Task | null> {
    const { store } = await this.#client.longhaul();
    const request = { worker: this.id, queues: [this.queueName], limit: 1, requestId: randomUUID() };
    const [job] = (await store.jobs.claim(request)).jobs;
    return job === undefined ? null : this.#client.getTask(job.id);
  }

  /** Rejects if this listener could not be registered; the next call tries again. */
  async #register(): Promise<void> {
    this.#registered ??= this.#client.registration.add(this.queueName);
    await this.#registered.catch((error: unknown) => {
      this.#registered = null;
      throw error;
    });
  }
}

/** Creates a signal that is kept if it rings before a caller waits for it. */
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

/** Returns whether a listener is registered and, if it is one of this host, its process lives. */
export function isListening({ id, isLost }: Pick<WorkerRecord, 'id' | 'isLost'>): boolean {
  return !isLost && !isDeadHere(id);
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
