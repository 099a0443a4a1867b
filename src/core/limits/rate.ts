/**
 * The rule of every rate limit, of queues and of throttles: a token bucket of `count` starts that refills evenly over
 * `ms`. Its only state is one time, `at`: when the bucket will be full again. A start takes its cost from the bucket: 1
 * in a queue, and at most `count`, so that each job can start when the bucket is full.
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

/** Returns how many starts the bucket holds, as a fraction. */
function tokens(rate: Rate, at: number, now: number): number {
  const gap = rate.ms / rate.count;
  return (now + rate.ms - fullAt(rate, at, now) + TOLERANCE_MS) / gap;
}

/** Returns how many jobs may start now. */
export function rateRoom(rate: Rate, at: number, now: number): number {
  return Math.floor(tokens(rate, at, now));
}

/** Returns the state to keep after starts of this cost together. */
export function rateAfter(rate: Rate, at: number, { now, cost }: { now: number; cost: number }): number {
  return fullAt(rate, at, now) + (cost * rate.ms) / rate.count;
}

/** Returns when a job of this cost may start, or null if it may start now. */
export function rateNextAt(rate: Rate, at: number, { now, cost }: { now: number; cost: number }): number | null {
  if (tokens(rate, at, now) >= cost) return null;
  return Math.max(now + 1, Math.ceil(fullAt(rate, at, now) + (cost * rate.ms) / rate.count - rate.ms - TOLERANCE_MS));
}
