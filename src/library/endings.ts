/**
 * Waiting for jobs to end: one subscription and one slow poll for all who wait, however many they are.
 *
 * Invariant: nobody is forgotten when a message is lost; the poll asks again once a second.
 */

import type { Job } from '../core/job/job.ts';
import { isEnded } from '../core/job/job.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';

const POLL_MS = 1_000;
const MOST_A_CALL = 500;

interface Waiter {
  readonly resolve: (job: Job) => void;
  readonly reject: (error: unknown) => void;
}

export class Endings {
  readonly #store: Store;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #stop: (() => void) | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The job's record once it is done, failed or cancelled; rejects when it is deleted, or when `signal` aborts. */
  of(id: string, signal?: AbortSignal): Promise<Job> {
    return new Promise<Job>((resolve, reject) => {
      const waiter = { resolve, reject };
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters.add(waiter));
      signal?.addEventListener('abort', () => this.#giveUp(id, waiter, signal.reason), { once: true });
      this.#listen();
      this.#ask([id]);
    });
  }

  close(): void {
    const error = new LonghaulError('store-closed', 'the connection was closed before the job ended');
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.reject(error);
    this.#waiters.clear();
    this.#rest();
  }

  #listen(): void {
    if (this.#stop !== null) return;
    const unsubscribe = this.#store.jobs.subscribe((events) => {
      const ended = events.filter(
        ({ id, state, type }) => this.#waiters.has(id) && (type === 'deleted' || (state !== null && isEnded(state))),
      );
      if (ended.length > 0) this.#ask(ended.map(({ id }) => id));
    });
    const poll = setInterval(() => this.#ask([...this.#waiters.keys()]), POLL_MS);
    this.#stop = () => {
      unsubscribe();
      clearInterval(poll);
    };
  }

  #rest(): void {
    this.#stop?.();
    this.#stop = null;
  }

  /** A store that is away is asked again by the poll; whoever cannot wait gives a signal. */
  #ask(ids: readonly string[]): void {
    for (let from = 0; from < ids.length; from += MOST_A_CALL) {
      const some = ids.slice(from, from + MOST_A_CALL);
      this.#store.jobs.find(some).then(
        (jobs) => some.forEach((id, place) => this.#tell(id, jobs[place] ?? null)),
        (error: unknown) => this.#refused(some, error),
      );
    }
  }

  #tell(id: string, job: Job | null): void {
    if (job !== null && !isEnded(job.state)) return;
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.delete(id);
    const gone = new LonghaulError('job-ended-badly', `job ${id} does not exist: it was deleted or never added`);
    for (const waiter of waiters) {
      if (job === null) waiter.reject(gone);
      else waiter.resolve(job);
    }
    if (this.#waiters.size === 0) this.#rest();
  }

  #refused(ids: readonly string[], error: unknown): void {
    const isPassing =
      error instanceof LonghaulError && (error.code === 'store-unavailable' || error.code === 'outcome-unknown');
    if (isPassing) return;
    for (const id of ids) for (const waiter of this.#waiters.get(id) ?? []) this.#giveUp(id, waiter, error);
  }

  #giveUp(id: string, waiter: Waiter, reason: unknown): void {
    const waiters = this.#waiters.get(id);
    if (waiters?.delete(waiter) !== true) return;
    if (waiters.size === 0) this.#waiters.delete(id);
    if (this.#waiters.size === 0) this.#rest();
    waiter.reject(reason);
  }
}
