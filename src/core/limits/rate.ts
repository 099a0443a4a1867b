/**
 * The rate limit of a queue: a token bucket of `count` starts that refills evenly over `ms`. Its only state is one
 * time, `at`: when the bucket will be full again.
 *
 * Invariant: the same numbers in the same order as in the Lua library, so that the stores agree to the last bit.
 */
import type { Rate } from '../settings/settings.ts';

/**
 * Tolerance for rounding: present times have a resolution of a quarter of a microsecond, and sums of them are coarser.
 */
const TOLERANCE_MS = 0.01;

/**
 * Returns the state to keep after the rate changed or the clock went back: an empty bucket refills within one period.
 */
export function clampedRateAt({ ms }: Rate, at: number, now: number): number {
  return Math.min(at, now + ms);
}

/**
 * Returns when the bucket will be full, seen from now. Clamps here too: a read may come before the call that stores the
 * clamped time, and callers that bring their own time differ slightly.
 */
function fullAt(rate: Rate, at: number, now: number): number {
  return Math.max(now, clampedRateAt(rate, at, now));
}

/** Returns how many jobs may start now. */
export function rateRoom(rate: Rate, at: number, now: number): number {
  const gap = rate.ms / rate.count;
  return Math.floor((now + rate.ms - fullAt(rate, at, now) + TOLERANCE_MS) / gap);
}

/** Returns the state to keep after `started` jobs were started. */
export function rateAfter(rate: Rate, at: number, { now, started }: { now: number; started: number }): number {
  return fullAt(rate, at, now) + (started * rate.ms) / rate.count;
}

/** Returns when the next job may start, or null if one may start now. */
export function rateNextAt(rate: Rate, at: number, now: number): number | null {
  if (rateRoom(rate, at, now) > 0) return null;
  return Math.max(now + 1, Math.ceil(fullAt(rate, at, now) + rate.ms / rate.count - rate.ms - TOLERANCE_MS));
}
