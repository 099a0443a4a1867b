/**
 * The registration of this process as a listener: one worker, host_pid, with every queue that a listener of the client
 * listens to. It is renewed while there is one.
 */
import { hostname } from 'node:os';
import type { Client } from './client.ts';

const REGISTERED_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

export class Registration {
  /** Its id: host_pid. */
  readonly id = `${hostname()}_${process.pid}`;
  readonly #client: Client;
  /** How many listeners each queue has here. */
  readonly #queues = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;
  #pending: Promise<unknown> = Promise.resolve();

  constructor(client: Client) {
    this.#client = client;
  }

  add(queue: string): Promise<void> {
    this.#queues.set(queue, (this.#queues.get(queue) ?? 0) + 1);
    this.#timer ??= setInterval(() => void this.#beat().catch(() => undefined), RENEW_EVERY_MS).unref();
    const added = this.#client.made(queue).then(() => this.#beat());
    this.#pending = Promise.allSettled([this.#pending, added]);
    return added;
  }

  async remove(queue: string): Promise<void> {
    const left = (this.#queues.get(queue) ?? 0) - 1;
    if (left > 0) this.#queues.set(queue, left);
    else this.#queues.delete(queue);
    if (this.#queues.size > 0) return this.#beat();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await (await this.#client.longhaul()).store.jobs.endWorker({ id: this.id, kind: 'deregister' });
  }

  /** Resolves when every listener that was created so far is registered, or could not be. */
  async settled(): Promise<void> {
    await this.#pending;
  }

  async #beat(): Promise<void> {
    if (this.#queues.size === 0) return;
    const about = {
      host: hostname(),
      pid: process.pid,
      queues: [...this.#queues.keys()],
      info: '{"compat":"blueque"}',
    };
    const { store } = await this.#client.longhaul();
    await store.jobs.keepWorker({ id: this.id, leaseMs: REGISTERED_MS, kind: 'register', ...about });
  }
}
