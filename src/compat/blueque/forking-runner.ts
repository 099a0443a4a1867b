/**
 * Blueque's ForkingRunner: one task at a time, each in a process and a session of its own, which outlives the runner.
 *
 * It first takes the tasks that dead listeners of this host left behind. A function cannot be passed to another process,
 * so the callback is a module that exports `run(parameters, task)`: it returns the result or throws the error.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Client } from './client.ts';
import { isAlive, type Listener } from './listener.ts';
import type { Task } from './task.ts';

const CHECK_ORPHAN_EVERY_MS = 1_000;

/** Runs the tasks of a queue, each in a process of its own. */
export class ForkingRunner {
  readonly #client: Client;
  readonly #listener: Listener;
  readonly #callback: string;

  constructor(client: Client, queueName: string, callback: string | URL) {
    if (client.address === null) throw new TypeError('a ForkingRunner needs a client that was opened by its address');
    this.#client = client;
    this.#listener = client.getListener(queueName);
    this.#callback = String(callback);
  }

  /** Runs tasks until the signal is aborted, and waits for the running one to end. */
  async run({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    try {
      while (!signal?.aborted) {
        const orphan = await this.#listener.claimOrphan();
        if (orphan === null) break;
        await (orphan.status === 'started' ? this.#waitFor(orphan, signal) : this.#runTask(orphan));
      }
      while (!signal?.aborted) await this.#runTask(await this.#listener.listen(undefined, signal ? { signal } : {}));
    } catch (error) {
      if (!signal?.aborted) throw error;
    } finally {
      await this.#listener.close();
    }
  }

  async #runTask(task: Task): Promise<void> {
    const order = JSON.stringify({ address: this.#client.address, id: task.id, callback: this.#callback });
    const entry = new URL('./forked-task-process.js', import.meta.url);
    const child = fork(entry, [order], { detached: true, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    // Only its exit is observed: it outlives this process.
    child.disconnect();
    const [code, how] = (await once(child, 'exit')) as [number | null, string | null];
    const left = await this.#client.getTask(task.id);
    if (left.token !== task.token || left.token === null) return;
    await this.#failFor(left, `its process ended with ${how ?? `exit code ${code}`}`);
  }

  async #failFor(task: Task, error: string): Promise<void> {
    const processor = this.#client.getProcessor(task);
    if (task.status === 'reserved') await processor.start(process.pid);
    await processor.fail(error);
  }

  /** A started task of a dead listener: its own process ends it. If that is gone, the task stays started. */
  async #waitFor({ id, pid }: Task, signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted && pid !== null && isAlive(pid)) {
      if ((await this.#client.getTask(id)).status !== 'started') return;
      await new Promise((resolve) => setTimeout(resolve, CHECK_ORPHAN_EVERY_MS));
    }
  }
}
