/**
 * How long to wait before something that died is started again: not at all the first time, then longer and longer
 * while it keeps dying, and not at all again once it has lived for a while.
 */

export const DAMPED = { firstMs: 100, longestMs: 30_000, forgottenAfterMs: 60_000 } as const;

export interface RestartDamper {
  /** It died now. Answers the wait. */
  died(now: number): number;
  /** Deaths in a row, as far as they count. */
  readonly deaths: number;
}

export function createRestartDamper(): RestartDamper {
  let deaths = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let waitMs = 0;
  return {
    died(now) {
      // The wait itself is no time it lived.
      if (now - lastAt - waitMs > DAMPED.forgottenAfterMs) deaths = 0;
      deaths += 1;
      lastAt = now;
      waitMs = deaths === 1 ? 0 : Math.min(DAMPED.longestMs, DAMPED.firstMs * 2 ** (deaths - 2));
      return waitMs;
    },
    get deaths() {
      return deaths;
    },
  };
}
