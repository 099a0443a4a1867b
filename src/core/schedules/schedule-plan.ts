/**
 * Plans a schedule's next step: which run times are due, which of them are made up, skipped or missed, and which jobs
 * to add or cancel. Decides; schedules/fire-schedule.ts acts. Pure.
 *
 * Invariant: the same record and the same time give the same plan on every node. A plan advances `mark` past every run
 * time that it decides, so that none is decided twice.
 */
import type { PendingRun, Run, Schedule } from './schedule.ts';
import { fireAt, nextRunTime, openWith, runTimeText, withRuns } from './schedule.ts';

/** A job of this schedule that has not ended. */
export interface LiveJob {
  readonly id: string;
  readonly isCancelAsked: boolean;
}

export interface SchedulePlan {
  /** The next record; the very same object if there is nothing to do. */
  readonly schedule: Schedule;
  readonly adds: readonly PendingRun[];
  readonly cancels: readonly string[];
  /** Whether more is due at once. */
  readonly more: boolean;
}

/** Nodes check schedules every few seconds at most; a run within this time is not late. */
export const ON_TIME_MS = 10_000;
/**
 * A `mark` this far ahead is from before the clock was set back. The run times from now on come again; a job that was
 * already created for one exists under its id and stays the only one.
 */
const CLOCK_STEP_MS = 60_000;
/**
 * Run times that one plan evaluates, so that a schedule of every second does not block the node after a long absence.
 */
const MAX_EVALUATED = 10_000;
const MAX_ADDED = 500;
const MAX_QUEUED = 1_000;

/** Returns whether the plan depends on the states of earlier jobs. */
export function needsLiveJobs(schedule: Schedule, now: number): boolean {
  if (schedule.pausedAt !== null || schedule.open.length === 0) return false;
  return schedule.queued.length > 0 || (schedule.definition.overlap !== 'allow' && isDue(schedule, now));
}

function isDue(schedule: Schedule, now: number): boolean {
  const at = nextRunAt(schedule);
  return at !== null && at <= now;
}

/** Returns when the job of the next run time is to run, or null if there is none or the schedule is paused. */
export function nextRunAt(schedule: Schedule): number | null {
  if (schedule.pausedAt !== null) return null;
  const slot = nextRunTime(schedule.definition, schedule.mark);
  return slot === null ? null : fireAt(schedule, slot);
}

/** Returns whether there is nothing to decide, which is the usual case. */
export function isIdle(schedule: Schedule, now: number): boolean {
  const { pending, queued, mark } = schedule;
  return pending.length + queued.length === 0 && mark - now <= CLOCK_STEP_MS && !isDue(schedule, now);
}

/** `live`: the open jobs that have not ended, or null if they were not read. */
export function planRuns(before: Schedule, now: number, live: readonly LiveJob[] | null): SchedulePlan {
  if (before.pausedAt !== null) return { schedule: before, adds: [], cancels: [], more: false };
  const schedule = { ...before, mark: before.mark - now > CLOCK_STEP_MS ? now - 1 : before.mark };
  const due = dueRunTimes(schedule, now);
  const chosen = applyOverlap(schedule, due.slots, (live ?? []).length > 0);
  const adds = chosen.add.map((slot, index) => runOf(schedule, slot, index));
  const cancels =
    schedule.definition.overlap === 'replace' && chosen.queued.length > 0 ? notYetCancelled(live ?? []) : [];
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

/** Keeps the last created job in any case: it may have been requeued. */
function stillOpen({ open }: Schedule, live: readonly LiveJob[] | null): readonly string[] {
  return live === null
    ? open
    : open.filter((id, index) => index === open.length - 1 || live.some((job) => job.id === id));
}

function notYetCancelled(live: readonly LiveJob[]): readonly string[] {
  return live.filter(({ isCancelAsked }) => !isCancelAsked).map(({ id }) => id);
}

function runOf(schedule: Schedule, slot: number, index: number): PendingRun {
  const { name, definition, made } = schedule;
  const id = definition.ids === 'slot' ? `${name}@${runTimeText(slot)}` : `${name}-${made + index + 1}`;
  return { id, slot, runAt: fireAt(schedule, slot) };
}

interface Due {
  /** Run times to be made up, oldest first. */
  readonly slots: readonly number[];
  readonly missed: number;
  readonly lastMissed: number | null;
  readonly mark: number;
  readonly more: boolean;
}

function dueRunTimes(schedule: Schedule, now: number): Due {
  const { catchUpMs, backlog } = schedule.definition;
  const oldest = now - Math.max(catchUpMs, ON_TIME_MS);
  const late = runTimesBetween(schedule, schedule.mark, oldest - 1);
  // Run times before the window are counted only up to a limit, and none of them is made up.
  const begin = late.isCut ? Math.max(late.mark, oldest - 1 - schedule.definition.jitterMs) : late.mark;
  const { slots, isCut } = runTimesBetween(schedule, begin, now);
  const most = Math.min(backlog ?? slots.length, MAX_ADDED);
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

/** Returns the run times after `mark` whose job is due by then, up to the limit of one plan. */
function runTimesBetween(schedule: Schedule, mark: number, by: number) {
  const slots: number[] = [];
  let slot = nextRunTime(schedule.definition, mark);
  while (slot !== null && fireAt(schedule, slot) <= by && slots.length < MAX_EVALUATED) {
    slots.push(slot);
    slot = nextRunTime(schedule.definition, slot);
  }
  return { slots, mark: slots.at(-1) ?? mark, isCut: slots.length === MAX_EVALUATED };
}

interface OverlapDecision {
  readonly add: readonly number[];
  readonly queued: readonly number[];
  readonly skipped: readonly number[];
}

/** Applies the overlap policy to the run times that are due while an earlier job has not ended. */
function applyOverlap(schedule: Schedule, due: readonly number[], isBusy: boolean): OverlapDecision {
  const { overlap, backlog } = schedule.definition;
  if (overlap === 'allow' && schedule.queued.length === 0) return { add: due, queued: [], skipped: [] };
  if (overlap === 'skip' && schedule.queued.length === 0) {
    return isBusy ? { add: [], queued: [], skipped: due } : { add: due.slice(0, 1), queued: [], skipped: due.slice(1) };
  }
  const most = overlap === 'replace' ? 1 : Math.min(backlog ?? MAX_QUEUED, MAX_QUEUED);
  const all = [...schedule.queued, ...due];
  // The first one starts at once if no job is open; of those that must wait, the newest are kept.
  const add = isBusy || overlap === 'replace' ? [] : all.slice(0, 1);
  const waiting = all.slice(add.length);
  const queued = waiting.slice(-most);
  const skipped = waiting.slice(0, waiting.length - queued.length);
  return overlap === 'replace' && !isBusy ? { add: queued, queued: [], skipped } : { add, queued, skipped };
}

interface PlannedOutcomes {
  readonly missed: number;
  readonly lastMissed: number | null;
  readonly skipped: readonly number[];
  readonly adds: readonly PendingRun[];
}

/** Returns the rows in the order of their run times; run times with the same outcome share a row. */
function runsOf(at: number, { missed, lastMissed, skipped, adds }: PlannedOutcomes): readonly Run[] {
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
