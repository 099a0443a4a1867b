/**
 * Sends the claims of a worker one after another.
 *
 * A worker may have two claims in flight, and a store remembers the last two. A server could take two requests in either
 * order; the third could then replace the answer of one that the worker has not received yet.
 */
export class ClaimOrder {
  readonly #latest = new Map<string, Promise<unknown>>();

  async send<Answer>(worker: string, send: () => Promise<Answer>): Promise<Answer> {
    const answer = (this.#latest.get(worker) ?? Promise.resolve()).then(send, send);
    this.#latest.set(worker, answer);
    try {
      return await answer;
    } finally {
      if (this.#latest.get(worker) === answer) this.#latest.delete(worker);
    }
  }
}
