/**
 * What a store makes of its own clock. Leases live by it, so a clock that steps or a store that slept must not
 * end all of them at once.
 *
 * - A step back of up to a minute is clamped: time stands still until the clock has caught up.
 * - A larger one is believed and reported: running leases start again from the new now, and so do delays that were counted
 *   from a time which has not come (operations/clock-step.ts).
 * - After a gap in which the store saw no call at all, leases that ended in it get their whole length again.
 */

/**
 * Whose time counts. `store`: the store's own. `caller`: each call carries `now`, believed as it is (the qless
 * door). `guarded`: the caller's stands in for the store's own, with all precautions below (tests).
 */
export type ClockSource = 'store' | 'caller' | 'guarded';

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** When a call happens, for everything that depends on time. */
export interface Moment {
  readonly now: number;
  readonly gap: Gap;
}

export interface ClockMemory {
  readonly seenAt: number;
  readonly gap: Gap;
}

export interface Reading extends Moment {
  readonly memory: ClockMemory;
  /** The clock went back so far that running leases must be restarted from `now`. */
  readonly hasSteppedBack: boolean;
}

/** A step back that is believed, while jobs may wait for times that were counted before it. */
export interface ClockStep {
  /** The new now. */
  readonly from: number;
  /** Jobs with a larger insertion number were not looked at yet. */
  readonly afterSeq: number;
}

export const NO_GAP: Gap = { from: 0, to: 0 };
export const NEVER_SEEN: ClockMemory = { seenAt: 0, gap: NO_GAP };

/** Workers poll at least once a second, so a silence of two means that nobody could reach the store. */
export const GAP_MS = 2_000;
export const CLAMP_MS = 60_000;

export function readClock(memory: ClockMemory, reading: number): Reading {
  const { seenAt } = memory;
  if (seenAt - reading > CLAMP_MS) {
    return { now: reading, gap: NO_GAP, memory: { seenAt: reading, gap: NO_GAP }, hasSteppedBack: true };
  }
  const now = Math.max(reading, seenAt);
  const gap = seenAt > 0 && now - seenAt > GAP_MS ? { from: seenAt, to: now } : memory.gap;
  return { now, gap, memory: { seenAt: now, gap }, hasSteppedBack: false };
}
