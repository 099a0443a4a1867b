/**
 * Who is at an upload right now. The last one to come has it: a client that was cut off and is back must not
 * wait until its old connection, of which the server has heard nothing yet, runs into a time-out.
 */
import { LonghaulError } from '../../core/ports/errors.ts';

interface Active {
  readonly controller: AbortController;
  /** Resolved when it has let go. */
  readonly done: Promise<void>;
}

export class ActiveUploads {
  readonly #active = new Map<string, Active>();
  #isClosed = false;

  /** Runs the work once everybody else has let go of this upload; `signal` tells it to let go in turn. */
  async run<T>(id: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let other = this.#active.get(id); other !== undefined; other = this.#active.get(id)) {
      other.controller.abort();
      await other.done;
    }
    if (this.#isClosed) throw new LonghaulError('store-closed', 'the attachments were closed');
    const controller = new AbortController();
    const result = work(controller.signal);
    const letGo = () => void this.#active.delete(id);
    this.#active.set(id, { controller, done: result.then(letGo, letGo) });
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#active.values()];
    for (const { controller } of all) controller.abort();
    await Promise.all(all.map(({ done }) => done));
  }
}
