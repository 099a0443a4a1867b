/**
 * How long a writer waits for the write lock of the file. While other processes make progress, the writer waits for its
 * turn, which can take long with many processes. A process that holds the lock and writes nothing is stuck: that is an
 * error for the caller.
 *
 * SQLite has no queue for the lock: the process that tries at the right moment gets it. So the pauses are random: no
 * process starves because it tries less often than others, and none keeps the CPU busy with retries.
 */

/** Limit of a wait in which no process writes. */
export const MAX_STUCK_MS = 5_000;
/** Limit of a wait in which other processes write all the time. */
export const MAX_WAIT_MS = 60_000;
const MAX_PAUSE_MS = 20;

interface Wait {
  readonly since: number;
  readonly movedAt: number;
  readonly progress: unknown;
}

export class LockTimeout {
  readonly #random: () => number;
  #wait: Wait | null = null;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /**
   * Called when the lock was not available. `progress` differs from the last call if another process wrote meanwhile.
   * Returns how long to pause before the next try, or, at the limit, for how long the file was locked.
   */
  onBusy(now: number, progress: unknown): { readonly pauseMs: number } | { readonly lockedMs: number } {
    const { since, movedAt } = this.#update(now, progress);
    if (now - movedAt >= MAX_STUCK_MS) return { lockedMs: MAX_STUCK_MS };
    if (now - since >= MAX_WAIT_MS) return { lockedMs: MAX_WAIT_MS };
    return { pauseMs: 1 + this.#random() * Math.min(MAX_PAUSE_MS, (now - since) / 4) };
  }

  /** Ends the wait: the lock was acquired, or the callers got an error. */
  reset(): void {
    this.#wait = null;
  }

  #update(now: number, progress: unknown): Wait {
    const { since = now, movedAt = now, progress: seen = progress } = this.#wait ?? {};
    this.#wait = { since, movedAt: seen === progress ? movedAt : now, progress };
    return this.#wait;
  }
}
