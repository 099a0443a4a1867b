/**
 * The calls that use an upload right now. The latest call wins: a client that reconnects must not wait until its old
 * connection times out.
 */
import { LonghaulError } from '../../core/ports/errors.ts';

interface Active {
  readonly controller: AbortController;
  /** Resolves when the call has released the upload. */
  readonly done: Promise<void>;
}

export class ActiveUploads {
  readonly #active = new Map<string, Active>();
  #isClosed = false;

  /**
   * Runs the work once earlier calls have released this upload. `signal` aborts the work when a later call takes over.
   */
  async run<T>(id: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    for (let other = this.#active.get(id); other !== undefined; other = this.#active.get(id)) {
      other.controller.abort();
      await other.done;
    }
    if (this.#isClosed) throw new LonghaulError('store-closed', 'the attachment store is closed');
    const controller = new AbortController();
    const result = work(controller.signal);
    const release = () => void this.#active.delete(id);
    this.#active.set(id, { controller, done: result.then(release, release) });
    return result;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#active.values()];
    for (const { controller } of all) controller.abort();
    await Promise.all(all.map(({ done }) => done));
  }
}
