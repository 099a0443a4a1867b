/**
 * Watches from the renewer's thread whether the main thread still comes round, and ends the process when it has been
 * blocked for longer than it may.
 *
 * A process that was frozen as a whole (SIGSTOP, a paused machine) was not blocked: the watch counts only time in
 * which it was awake itself.
 */
import type { TellNews } from './lease-renewer.ts';

/** Shorter pauses of the main thread are nobody's business. */
export const BLOCKED_AFTER_MS = 1_000;
/** The most that one look can add: beyond it the watch itself was asleep. */
const MAX_STEP_MS = 1_000;

export interface MainWatchOptions {
  readonly maxBlockMs: number | null;
  readonly tell: TellNews;
  kill(): void;
}

export class MainWatch {
  readonly #options: MainWatchOptions;
  #rounds = -1;
  #lookedAt = 0;
  #blockedMs = 0;

  constructor(options: MainWatchOptions) {
    this.#options = options;
  }

  /** Answers for how long the main thread has been blocked; 0 when it is not. */
  look(rounds: number, now: number): number {
    const hasComeRound = rounds !== this.#rounds;
    const blockedMs = hasComeRound ? 0 : this.#blockedMs + Math.min(now - this.#lookedAt, MAX_STEP_MS);
    if (hasComeRound && this.#blockedMs >= BLOCKED_AFTER_MS)
      this.#options.tell({ kind: 'blocked', ms: Math.round(this.#blockedMs) });
    this.#rounds = rounds;
    this.#lookedAt = now;
    this.#blockedMs = blockedMs;
    const { maxBlockMs, kill } = this.#options;
    if (maxBlockMs !== null && blockedMs >= maxBlockMs) kill();
    return blockedMs >= BLOCKED_AFTER_MS ? Math.round(blockedMs) : 0;
  }
}
