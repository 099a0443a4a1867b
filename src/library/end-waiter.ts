/**
 * Waits for jobs to end: one subscription and one slow poll for all waiters.
 *
 * Invariant: a lost event loses no waiter, because the poll reads every awaited job once a second.
 */
import type { Job } from '../core/job/job.ts';
import { isEnded } from '../core/job/job.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';

const POLL_MS = 1_000;
const MAX_BATCH = 500;

interface Waiter {
  readonly resolve: (job: Job) => void;
  readonly reject: (error: unknown) => void;
}

export class EndWaiter {
  readonly #store: Store;
  readonly #waiters = new Map<string, Set<Waiter>>();
  #endWatch: (() => void) | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Resolves to the job when it is done, failed or cancelled. Rejects when it is deleted, or when `signal` aborts. */
  wait(id: string, signal?: AbortSignal): Promise<Job> {
    return new Promise<Job>((resolve, reject) => {
      const waiter = { resolve, reject };
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters.add(waiter));
      signal?.addEventListener('abort', () => this.#giveUp(id, waiter, signal.reason), { once: true });
      this.#watch();
      this.#read([id]);
    });
  }

  close(): void {
    const error = new LonghaulError('store-closed', 'the connection was closed before the job ended');
    for (const waiters of this.#waiters.values()) for (const waiter of waiters) waiter.reject(error);
    this.#waiters.clear();
    this.#unwatch();
  }

  #watch(): void {
    if (this.#endWatch !== null) return;
    const unsubscribe = this.#store.jobs.subscribe((events) => {
      const ended = events.filter(
        ({ id, state, type }) => this.#waiters.has(id) && (type === 'deleted' || (state !== null && isEnded(state))),
      );
      if (ended.length > 0) this.#read(ended.map(({ id }) => id));
    });
    const poll = setInterval(() => this.#read([...this.#waiters.keys()]), POLL_MS);
    this.#endWatch = () => {
      unsubscribe();
      clearInterval(poll);
    };
  }

  #unwatch(): void {
    this.#endWatch?.();
    this.#endWatch = null;
  }

  /** Reads jobs. While the store is unavailable the poll repeats the read; a caller ends its wait by its signal. */
  #read(ids: readonly string[]): void {
    for (let from = 0; from < ids.length; from += MAX_BATCH) {
      const batch = ids.slice(from, from + MAX_BATCH);
      this.#store.jobs.find(batch).then(
        (jobs) => batch.forEach((id, index) => this.#settle(id, jobs[index] ?? null)),
        (error: unknown) => this.#readFailed(batch, error),
      );
    }
  }

  #settle(id: string, job: Job | null): void {
    if (job !== null && !isEnded(job.state)) return;
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.delete(id);
    const gone = new LonghaulError('job-ended-badly', `job ${id} does not exist: it was deleted or never added`);
    for (const waiter of waiters) {
      if (job === null) waiter.reject(gone);
      else waiter.resolve(job);
    }
    if (this.#waiters.size === 0) this.#unwatch();
  }

  #readFailed(ids: readonly string[], error: unknown): void {
    const isTransient =
      error instanceof LonghaulError && (error.code === 'store-unavailable' || error.code === 'outcome-unknown');
    if (isTransient) return;
    for (const id of ids) for (const waiter of this.#waiters.get(id) ?? []) this.#giveUp(id, waiter, error);
  }

  #giveUp(id: string, waiter: Waiter, reason: unknown): void {
    const waiters = this.#waiters.get(id);
    if (waiters?.delete(waiter) !== true) return;
    if (waiters.size === 0) this.#waiters.delete(id);
    if (this.#waiters.size === 0) this.#unwatch();
    waiter.reject(reason);
  }
}
