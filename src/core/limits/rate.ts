/**
 * How often jobs of a queue may start: a bucket of `count` starts that fills evenly over `ms`. All that is remembered
 * is one time, `at`: when the bucket will be full again.
 *
 * Invariant: the same numbers in the same order as in lua/prelude.lua, so that the stores agree to the last bit.
 */
import type { Rate } from '../settings/settings.ts';

/** What rounding may take away: times of today have a grain of a quarter of a microsecond, and sums of them more. */
const SLIGHT = 0.01;

/** What to remember once the rate was changed or the clock went back: an empty bucket is full after one period of the rate. */
export function rateFitted({ ms }: Rate, at: number, now: number): number {
  return Math.min(at, now + ms);
}

/**
 * When the bucket will be full, seen from now. Fitted here too: a look may come before the call that keeps the fitted time,
 * and callers that bring their own time differ by a little.
 */
function fullAt(rate: Rate, at: number, now: number): number {
  return Math.max(now, rateFitted(rate, at, now));
}

/** How many may start now. */
export function rateRoom(rate: Rate, at: number, now: number): number {
  const gap = rate.ms / rate.count;
  return Math.floor((now + rate.ms - fullAt(rate, at, now) + SLIGHT) / gap);
}

/** What to remember once so many were started. */
export function rateAfter(rate: Rate, at: number, { now, started }: { now: number; started: number }): number {
  return fullAt(rate, at, now) + (started * rate.ms) / rate.count;
}

/** When the next one may start; null where one may now. */
export function rateNextAt(rate: Rate, at: number, now: number): number | null {
  if (rateRoom(rate, at, now) > 0) return null;
  return Math.max(now + 1, Math.ceil(fullAt(rate, at, now) + rate.ms / rate.count - rate.ms - SLIGHT));
}
