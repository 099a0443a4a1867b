/**
 * How long a writer waits for the lock of the file. As long as others get on it is only not its turn yet, and with many
 * processes that may take a while; one that holds the lock and writes nothing is stuck, and somebody must be told.
 *
 * SQLite gives the lock to whoever asks at the right moment and keeps no line, so the pauses are drawn: nobody who asks
 * less often than the others is left out, and nobody keeps the machine busy with asking.
 */

/** Nobody wrote for so long. */
export const MOST_STUCK_MS = 5_000;
/** Others wrote all the time, and it never came to its turn. */
export const MOST_PATIENCE_MS = 60_000;
const MOST_PAUSE_MS = 20;

interface Wait {
  readonly since: number;
  readonly movedAt: number;
  readonly progress: unknown;
}

export class LockPatience {
  readonly #random: () => number;
  #wait: Wait | null = null;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /**
   * The lock was not to be had at this time. `progress` is another one whenever somebody wrote. Answers how long to pause
   * before the next try, or for how long there was nothing to be had when it is over.
   */
  refused(now: number, progress: unknown): { readonly pauseMs: number } | { readonly lockedMs: number } {
    const { since, movedAt } = this.#look(now, progress);
    if (now - movedAt >= MOST_STUCK_MS) return { lockedMs: MOST_STUCK_MS };
    if (now - since >= MOST_PATIENCE_MS) return { lockedMs: MOST_PATIENCE_MS };
    return { pauseMs: 1 + this.#random() * Math.min(MOST_PAUSE_MS, (now - since) / 4) };
  }

  /** It was had, or is no longer waited for. */
  end(): void {
    this.#wait = null;
  }

  #look(now: number, progress: unknown): Wait {
    const { since = now, movedAt = now, progress: seen = progress } = this.#wait ?? {};
    this.#wait = { since, movedAt: seen === progress ? movedAt : now, progress };
    return this.#wait;
  }
}
