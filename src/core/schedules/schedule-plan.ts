/**
 * What a schedule does now: which slots have come due, which of them are made up, skipped or missed, and which jobs are
 * to be added or cancelled. Decides; schedules/fire-schedule.ts acts. Pure.
 *
 * Invariant: the same record and the same time give the same turn on every node, and a turn moves the mark over every
 * slot that it decided, so that none is decided twice.
 */
import type { PendingRun, Run, Schedule } from './schedule.ts';
import { fireAt, nextSlot, openWith, slotText, withRuns } from './schedule.ts';

/** A job of this schedule that has not ended. */
export interface LiveJob {
  readonly id: string;
  readonly isCancelAsked: boolean;
}

export interface Turn {
  /** The record as it shall be; the very same object when there is nothing to do. */
  readonly schedule: Schedule;
  readonly adds: readonly PendingRun[];
  readonly cancels: readonly string[];
  /** Whether more is due at once. */
  readonly more: boolean;
}

/** Nobody looks more often than every few seconds; what is no later than this is not late. */
export const ON_TIME_MS = 10_000;
/**
 * A mark so far ahead of the time is from before the clock was set back. The slots from now on are to come again; the
 * job of one that was made already is there under its id, and stays the only one.
 */
const CLOCK_STEP_MS = 60_000;
/** Slots that are looked at in one turn, so that a schedule of every second and a long absence block nobody. */
const MOST_LOOKED_AT = 10_000;
const MOST_ADDED = 500;
const MOST_QUEUED = 1_000;

/** Whether the turn depends on how its earlier jobs do. */
export function mustLookAtJobs(schedule: Schedule, now: number): boolean {
  if (schedule.pausedAt !== null || schedule.open.length === 0) return false;
  return schedule.queued.length > 0 || (schedule.definition.overlap !== 'allow' && isDue(schedule, now));
}

function isDue(schedule: Schedule, now: number): boolean {
  const at = nextRunAt(schedule);
  return at !== null && at <= now;
}

/** When the next slot's job is to run, or null when there is none or it is paused. */
export function nextRunAt(schedule: Schedule): number | null {
  if (schedule.pausedAt !== null) return null;
  const slot = nextSlot(schedule.definition, schedule.mark);
  return slot === null ? null : fireAt(schedule, slot);
}

/** Whether there is nothing to decide, as most looks find. */
export function isAtRest(schedule: Schedule, now: number): boolean {
  const { pending, queued, mark } = schedule;
  return pending.length + queued.length === 0 && mark - now <= CLOCK_STEP_MS && !isDue(schedule, now);
}

/** `live`: those of its open jobs that have not ended, or null where nobody had to look. */
export function planTurn(before: Schedule, now: number, live: readonly LiveJob[] | null): Turn {
  if (before.pausedAt !== null) return { schedule: before, adds: [], cancels: [], more: false };
  const schedule = { ...before, mark: before.mark - now > CLOCK_STEP_MS ? now - 1 : before.mark };
  const due = dueSlots(schedule, now);
  const chosen = choose(schedule, due.slots, (live ?? []).length > 0);
  const adds = chosen.add.map((slot, place) => runOf(schedule, slot, place));
  const cancels = schedule.definition.overlap === 'replace' && chosen.queued.length > 0 ? unasked(live ?? []) : [];
  if (due.mark === before.mark && adds.length === 0) return { schedule: before, adds, cancels, more: false };
  const next: Schedule = {
    ...withRuns(schedule, runsOf(now, { ...due, skipped: chosen.skipped, adds })),
    mark: due.mark,
    made: schedule.made + adds.length,
    missed: schedule.missed + due.missed,
    skipped: schedule.skipped + chosen.skipped.length,
    queued: chosen.queued,
    pending: [...schedule.pending, ...adds],
    open: openWith(stillOpen(schedule, live), adds),
  };
  return { schedule: next, adds, cancels, more: due.more };
}

/** The last one made is looked at again in any case: somebody may have requeued it. */
function stillOpen({ open }: Schedule, live: readonly LiveJob[] | null): readonly string[] {
  return live === null
    ? open
    : open.filter((id, place) => place === open.length - 1 || live.some((job) => job.id === id));
}

function unasked(live: readonly LiveJob[]): readonly string[] {
  return live.filter(({ isCancelAsked }) => !isCancelAsked).map(({ id }) => id);
}

function runOf(schedule: Schedule, slot: number, place: number): PendingRun {
  const { name, definition, made } = schedule;
  const id = definition.ids === 'slot' ? `${name}@${slotText(slot)}` : `${name}-${made + place + 1}`;
  return { id, slot, runAt: fireAt(schedule, slot) };
}

interface Due {
  /** Those to be made up, oldest first. */
  readonly slots: readonly number[];
  readonly missed: number;
  readonly lastMissed: number | null;
  readonly mark: number;
  readonly more: boolean;
}

function dueSlots(schedule: Schedule, now: number): Due {
  const { catchUpMs, backlog } = schedule.definition;
  const oldest = now - Math.max(catchUpMs, ON_TIME_MS);
  const late = passed(schedule, schedule.mark, oldest - 1);
  // However many there were before the window: nobody counts further, and none of them is made up.
  const begin = late.isCut ? Math.max(late.mark, oldest - 1 - schedule.definition.jitterMs) : late.mark;
  const { slots, isCut } = passed(schedule, begin, now);
  const most = Math.min(backlog ?? slots.length, MOST_ADDED);
  const dropped = backlog === null ? 0 : Math.max(0, slots.length - backlog);
  const taken = isCut && backlog !== null ? [] : slots.slice(dropped, dropped + most);
  const lastDropped = slots[dropped - 1] ?? null;
  return {
    slots: taken,
    missed: late.slots.length + dropped,
    lastMissed: lastDropped ?? late.slots.at(-1) ?? null,
    mark: taken.at(-1) ?? lastDropped ?? begin,
    more: isCut || dropped + taken.length < slots.length,
  };
}

/** The slots after a mark whose time has come by then, as far as one turn looks. */
function passed(schedule: Schedule, mark: number, by: number) {
  const slots: number[] = [];
  let slot = nextSlot(schedule.definition, mark);
  while (slot !== null && fireAt(schedule, slot) <= by && slots.length < MOST_LOOKED_AT) {
    slots.push(slot);
    slot = nextSlot(schedule.definition, slot);
  }
  return { slots, mark: slots.at(-1) ?? mark, isCut: slots.length === MOST_LOOKED_AT };
}

interface Chosen {
  readonly add: readonly number[];
  readonly queued: readonly number[];
  readonly skipped: readonly number[];
}

/** By the policy: what becomes of the slots that are due, when an earlier job has not ended. */
function choose(schedule: Schedule, due: readonly number[], isBusy: boolean): Chosen {
  const { overlap, backlog } = schedule.definition;
  if (overlap === 'allow' && schedule.queued.length === 0) return { add: due, queued: [], skipped: [] };
  if (overlap === 'skip' && schedule.queued.length === 0) {
    return isBusy ? { add: [], queued: [], skipped: due } : { add: due.slice(0, 1), queued: [], skipped: due.slice(1) };
  }
  const most = overlap === 'replace' ? 1 : Math.min(backlog ?? MOST_QUEUED, MOST_QUEUED);
  const all = [...schedule.queued, ...due];
  // The first one can go at once where nothing is in its way; of those that must wait, the newest are kept.
  const add = isBusy || overlap === 'replace' ? [] : all.slice(0, 1);
  const waiting = all.slice(add.length);
  const queued = waiting.slice(-most);
  const skipped = waiting.slice(0, waiting.length - queued.length);
  return overlap === 'replace' && !isBusy ? { add: queued, queued: [], skipped } : { add, queued, skipped };
}

interface Fates {
  readonly missed: number;
  readonly lastMissed: number | null;
  readonly skipped: readonly number[];
  readonly adds: readonly PendingRun[];
}

/** In the order of their slots, those that share a fate as one row. */
function runsOf(at: number, { missed, lastMissed, skipped, adds }: Fates): readonly Run[] {
  const row = (slot: number, outcome: Run['outcome'], rest: Partial<Run> = {}): Run => ({
    slot,
    at,
    outcome,
    id: null,
    count: 1,
    isByHand: false,
    ...rest,
  });
  const lastSkipped = skipped.at(-1);
  return [
    ...(lastMissed === null ? [] : [row(lastMissed, 'missed', { count: missed })]),
    ...(lastSkipped === undefined ? [] : [row(lastSkipped, 'skipped', { count: skipped.length })]),
    ...adds.map(({ id, slot }) => row(slot, 'made', { id })),
  ].sort((one, other) => one.slot - other.slot);
}
