/**
 * Guards against steps of the store's clock. Leases depend on it, so a clock that steps or a store that slept must not
 * expire all of them at once.
 *
 * - A step back of up to a minute is clamped: time stands still until the clock has caught up.
 * - A larger step back is accepted and reported: running leases restart from the new now, and so do delays counted from
 *   a time in the future (operations/clock-step.ts).
 * - After a gap without any call to the store, leases that ended in the gap get their whole length again.
 * - A time in which callers waited and no call was served, because the store was locked, is a gap even if it is short.
 */

/**
 * Whose time is used. `store`: the store's own. `caller`: each call carries `now`, used as it is (compat/qless).
 * `guarded`: the caller's time replaces the store's own, with all precautions below (tests).
 */
export type ClockSource = 'store' | 'caller' | 'guarded';

export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The time of a call, for every decision that depends on time. */
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

/** An accepted step back, as long as jobs may wait for times that were computed before it. */
export interface ClockStep {
  /** The new now. */
  readonly from: number;
  /** Jobs with a larger insertion number were not rebased yet. */
  readonly afterSeq: number;
}

export const NO_GAP: Gap = { from: 0, to: 0 };
export const NEVER_SEEN: ClockMemory = { seenAt: 0, gap: NO_GAP };

/** Workers poll at least once a second, so two seconds without a call mean that the store was unreachable. */
export const GAP_MS = 2_000;
/** Renewals that wait for longer than this may come too late for a lease of a second. */
export const LOCKED_GAP_MS = 500;
export const CLAMP_MS = 60_000;

/** `locked`: the last time in which a caller waited for the lock of the store. */
export function readClock(memory: ClockMemory, reading: number, locked: Gap = NO_GAP): Reading {
  const { seenAt } = memory;
  if (seenAt - reading > CLAMP_MS) {
    return { now: reading, gap: NO_GAP, memory: { seenAt: reading, gap: NO_GAP }, hasSteppedBack: true };
  }
  const now = Math.max(reading, seenAt);
  const gap = gapBefore(now, memory, locked);
  return { now, gap, memory: { seenAt: now, gap }, hasSteppedBack: false };
}

/** A call at `seenAt` was served, so the store was locked for all callers only after it. */
function gapBefore(now: number, { seenAt, gap }: ClockMemory, locked: Gap): Gap {
  if (seenAt > 0 && now - seenAt > GAP_MS) return { from: seenAt, to: now };
  const from = Math.max(seenAt, locked.from);
  return locked.to <= now && locked.to - from > LOCKED_GAP_MS ? { from, to: locked.to } : gap;
}
