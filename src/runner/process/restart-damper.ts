/**
 * Computes the wait before a restart: none after the first death, then exponentially longer, and none again after a
 * long enough life.
 */

export const DAMPED = { firstMs: 100, longestMs: 30_000, forgottenAfterMs: 60_000 } as const;

export interface RestartDamper {
  /** Records a death now. Returns the wait. */
  died(now: number): number;
  /** Consecutive deaths that count. */
  readonly deaths: number;
}

export function createRestartDamper(): RestartDamper {
  let deaths = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let waitMs = 0;
  return {
    died(now) {
      // The wait does not count as lifetime.
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
