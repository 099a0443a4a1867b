/**
 * Blueque's processor: starts and ends a task, with the token of the task's reservation.
 *
 * A processor whose reservation is lost is refused, and so is a second end: Blueque accepted both. The lease of a started
 * task is renewed while the processor lives. A task whose lease expires is held, and not given to another listener.
 */
import type { Settlement } from '../../core/ports/job-store.ts';
import type { Client } from './client.ts';
import type { RanBy, Task } from './task.ts';

const RENEW_EVERY_MS = 15_000;

/** The settlement of a task. */
export type TaskEnd =
  | { readonly kind: 'complete'; readonly result: string }
  | Pick<Extract<Settlement, { kind: 'fail' }>, 'kind' | 'failure' | 'delayMs' | 'final'>;

/** Starts and ends a reserved task. */
export class Processor {
  readonly #client: Client;
  readonly #task: Task;
  #renewing: NodeJS.Timeout | null = null;

  constructor(client: Client, task: Task) {
    this.#client = client;
    this.#task = task;
  }

  /** Marks the task as started by this process. Returns its parameters. */
  async start(pid: number): Promise<string> {
    const { id, node } = this.#task;
    const seen = await this.#client.getTask(id);
    if (seen.status !== 'reserved')
      throw new Error(`task ${id} is ${seen.status ?? 'not there'}: only a reserved one can be started`);
    const checkpoint = JSON.stringify({ node: node ?? '', pid } satisfies RanBy);
    await this.#beat({ started: { pid }, checkpoint });
    this.#renewing = setInterval(() => void this.#beat({}).catch(() => this.#stopRenewing()), RENEW_EVERY_MS);
    this.#renewing.unref();
    return seen.parameters ?? '';
  }

  /** Completes the task with a result. */
  async complete(result: string): Promise<void> {
    await this.#end({ kind: 'complete', result: JSON.stringify(result) });
  }

  /** Fails the task with an error message. */
  async fail(error: string): Promise<void> {
    const failure = { group: 'failed', message: error, detail: null };
    await this.#end({ kind: 'fail', failure, delayMs: 0, final: true });
  }

  async #beat(beat: { started?: { pid: number }; checkpoint?: string }): Promise<void> {
    const { store } = await this.#client.longhaul();
    const [answer] = await store.jobs.heartbeat([{ id: this.#task.id, token: this.#token(), ...beat }]);
    if (answer?.ok === false) throw new Error(answer.refusal.message);
  }

  async #end(end: TaskEnd): Promise<void> {
    this.#stopRenewing();
    const seen = await this.#client.getTask(this.#task.id);
    if (seen.status !== 'started')
      throw new Error(`task ${seen.id} is ${seen.status ?? 'not there'}: only a started one can end`);
    const { store } = await this.#client.longhaul();
    const [answer] = await store.jobs.settle([{ ...end, id: this.#task.id, token: this.#token() }]);
    if (answer?.ok === false) throw new Error(answer.refusal.message);
  }

  #token(): number {
    if (this.#task.token === null) throw new Error(`task ${this.#task.id} was not reserved when it was read`);
    return this.#task.token;
  }

  #stopRenewing(): void {
    if (this.#renewing !== null) clearInterval(this.#renewing);
    this.#renewing = null;
  }
}
