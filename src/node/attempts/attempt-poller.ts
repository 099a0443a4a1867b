/**
 * Polls whether an attempt is over according to the store. A reader wakes up after an event, a change of the log, or an
 * interval.
 */
import type { JobState } from '../../core/job/job.ts';
import { isOpenAttempt } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';

export interface AttemptKey {
  readonly store: Store;
  readonly id: string;
  readonly attempt: number;
}

/** The store is read this often without an event: an event may be lost. */
const STORE_POLL_INTERVAL_MS = 5_000;

export class AttemptPoller {
  readonly #key: AttemptKey;
  readonly #undo: (() => void)[] = [];
  #wake: () => void = () => undefined;
  #isWoken = false;
  #hasEvents = true;
  #readAt = 0;
  #ended: { readonly state: JobState | null } | null = null;

  constructor(key: AttemptKey, everyMs: number) {
    this.#key = key;
    const timer = setInterval(() => this.wake(), everyMs).unref();
    const unsubscribe = key.store.jobs.subscribe((events) => {
      if (!events.some(({ id, type }) => id === key.id && type !== 'progress')) return;
      this.#hasEvents = true;
      this.wake();
    });
    this.#undo.push(unsubscribe, () => clearInterval(timer));
  }

  /** Returns null while the attempt runs. Reads the store only after an event or the interval. */
  async ended(): Promise<{ readonly state: JobState | null } | null> {
    if (this.#ended !== null) return this.#ended;
    if (!this.#hasEvents && performance.now() - this.#readAt < STORE_POLL_INTERVAL_MS) return null;
    this.#hasEvents = false;
    this.#readAt = performance.now();
    const { store, id, attempt } = this.#key;
    const job = (await store.jobs.find([id]))[0] ?? null;
    const isOver = job === null || !isOpenAttempt(job, attempt);
    this.#ended = isOver ? { state: job?.state ?? null } : null;
    return this.#ended;
  }

  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Resolves when it was woken since the last call, or the signal is aborted. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener('abort', go);
        this.#isWoken = false;
        this.#wake = () => undefined;
        resolve();
      };
      this.#wake = go;
      signal.addEventListener('abort', go, { once: true });
      if (this.#isWoken || signal.aborted) go();
    });
  }

  close(): void {
    for (const undo of this.#undo) undo();
  }
}
