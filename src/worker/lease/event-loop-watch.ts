/**
 * Watches from the lease renewer's thread whether the event loop of the main thread turns, and kills the process when it
 * is blocked for longer than allowed.
 *
 * A process that was frozen as a whole (SIGSTOP, a paused machine) was not blocked: the watch counts only time in which
 * its own thread ran.
 */
import type { RenewerListener } from './lease-renewer.ts';

/** Shorter pauses of the main thread are normal. */
export const BLOCKED_AFTER_MS = 1_000;
/** The most that one check can add: in a longer gap the watch itself did not run. */
const MAX_STEP_MS = 1_000;

export interface EventLoopWatchOptions {
  readonly maxBlockMs: number | null;
  readonly emit: RenewerListener;
  kill(): void;
}

export class EventLoopWatch {
  readonly #options: EventLoopWatchOptions;
  #turns = -1;
  #checkedAt = 0;
  #blockedMs = 0;

  constructor(options: EventLoopWatchOptions) {
    this.#options = options;
  }

  /** Returns for how long the main thread has been blocked; 0 when it is not. */
  check(turns: number, now: number): number {
    const hasTurned = turns !== this.#turns;
    const blockedMs = hasTurned ? 0 : this.#blockedMs + Math.min(now - this.#checkedAt, MAX_STEP_MS);
    if (hasTurned && this.#blockedMs >= BLOCKED_AFTER_MS)
      this.#options.emit({ kind: 'blocked', ms: Math.round(this.#blockedMs) });
    this.#turns = turns;
    this.#checkedAt = now;
    this.#blockedMs = blockedMs;
    const { maxBlockMs, kill } = this.#options;
    if (maxBlockMs !== null && blockedMs >= maxBlockMs) kill();
    return blockedMs >= BLOCKED_AFTER_MS ? Math.round(blockedMs) : 0;
  }
}
