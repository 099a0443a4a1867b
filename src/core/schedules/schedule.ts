/**
 * A schedule as it is stored: its definition and its progress. Pure.
 *
 *     run time ──due──▶ pending ──added to its queue──▶ a job, `open` until it has ended
 *       └────────────▶ queued (policies queue and replace) ──▶ pending
 *
 * Stored fields named `slot` hold run times.
 *
 * Invariant: every run time up to `mark` is decided, and none after it. The node that advances `mark` (a put with the
 * version it read) must add the jobs in `pending`. Any node that finds them pending adds them; the same id twice is one
 * job.
 */
import { sameJson } from '../input/same-json.ts';
import type { ScheduleRule } from './schedule-rule.ts';
import { runTimeAfter } from './schedule-rule.ts';

export const SCHEDULE_RECORD = 'schedule';

export const OVERLAPS = ['skip', 'queue', 'replace', 'allow'] as const;
export type Overlap = (typeof OVERLAPS)[number];

export interface ScheduleDefinition {
  readonly rule: ScheduleRule;
  /** No run time before, and none after. */
  readonly fromAt: number | null;
  readonly untilAt: number | null;
  readonly overlap: Overlap;
  readonly catchUpMs: number;
  /** How many run times that are due together are made up, the newest of them; null: all. */
  readonly backlog: number | null;
  readonly jitterMs: number;
  /** The end of a job's id: `@` and its run time, or `-` and a counter. */
  readonly ids: 'slot' | 'count';
  readonly job: ScheduledJob;
}

export interface ScheduledJob {
  readonly queue: string;
  /** JSON text. */
  readonly data: string;
  /** Options of `add`, as given. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A job that is decided, and not yet known to be in its queue. */
export interface PendingRun {
  readonly id: string;
  readonly slot: number;
  readonly runAt: number;
}

export type RunOutcome = 'made' | 'skipped' | 'missed' | 'duplicate' | 'refused';

export interface Run {
  /** The last one, if the row stands for several with the same outcome. */
  readonly slot: number;
  readonly at: number;
  readonly outcome: RunOutcome;
  readonly id: string | null;
  readonly count: number;
  readonly isByHand: boolean;
}

export interface Schedule {
  readonly name: string;
  readonly definition: ScheduleDefinition;
  readonly createdAt: number;
  readonly changedAt: number;
  readonly pausedAt: number | null;
  readonly note: string | null;
  readonly mark: number;
  readonly made: number;
  readonly skipped: number;
  readonly missed: number;
  readonly queued: readonly number[];
  readonly pending: readonly PendingRun[];
  /** Jobs that had not ended when last read, and always the last one created. */
  readonly open: readonly string[];
  /** Newest first. */
  readonly recent: readonly Run[];
}

const MAX_RECENT = 20;
const MAX_OPEN = 100;

export function newSchedule(name: string, definition: ScheduleDefinition, now: number): Schedule {
  return {
    name,
    definition,
    createdAt: now,
    changedAt: now,
    pausedAt: null,
    note: null,
    // A run time at this very moment is still to come.
    mark: now - 1,
    made: 0,
    skipped: 0,
    missed: 0,
    queued: [],
    pending: [],
    open: [],
    recent: [],
  };
}

/**
 * Replaces the definition. Counts, open jobs and queued run times stay. `mark` stays too unless the rule changed: it
 * then starts now, because earlier run times of the new rule were never requested.
 */
export function redefined(before: Schedule, definition: ScheduleDefinition, now: number): Schedule {
  const isSameRule = sameJson(runTimesKey(before.definition), runTimesKey(definition));
  return { ...before, definition, changedAt: now, mark: isSameRule ? before.mark : Math.max(before.mark, now - 1) };
}

function runTimesKey({ rule, fromAt, untilAt }: ScheduleDefinition) {
  return { rule, fromAt, untilAt };
}

export function pausedSchedule(before: Schedule, note: string | null, now: number): Schedule {
  return { ...before, pausedAt: before.pausedAt ?? now, note };
}

/** Resumes a schedule. Run times within the pause are not made up: the operator did not want them. */
export function resumedSchedule(before: Schedule, now: number): Schedule {
  if (before.pausedAt === null) return before;
  return { ...before, pausedAt: null, note: null, mark: Math.max(before.mark, now - 1) };
}

/**
 * Creates a job by hand, whatever the rule, the pause and the policy. Later run times treat it like a job of their own.
 */
export function manualRun(
  before: Schedule,
  now: number,
  id = `${before.name}@${runTimeText(now)}~now`,
): { readonly schedule: Schedule; readonly run: PendingRun } {
  const run = { id, slot: now, runAt: now };
  if (before.open.includes(id)) return { schedule: before, run };
  const made: Run = { slot: now, at: now, outcome: 'made', id: run.id, count: 1, isByHand: true };
  const schedule = withRuns({ ...before, pending: [...before.pending, run], open: openWith(before.open, [run]) }, [
    made,
  ]);
  return { schedule: { ...schedule, made: before.made + 1 }, run };
}

export function openWith(open: readonly string[], runs: readonly PendingRun[]): readonly string[] {
  return [...new Set([...open, ...runs.map(({ id }) => id)])].slice(-MAX_OPEN);
}

export function withRuns(schedule: Schedule, runs: readonly Run[]): Schedule {
  return { ...schedule, recent: [...runs.toReversed(), ...schedule.recent].slice(0, MAX_RECENT) };
}

/** Records the outcomes of adding pending jobs. A duplicate or refused job is not open. */
export function withOutcomes(before: Schedule, outcomes: ReadonlyMap<string, RunOutcome>): Schedule {
  if (!before.pending.some(({ id }) => outcomes.has(id))) return before;
  const isOurs = (id: string): boolean => (outcomes.get(id) ?? 'made') === 'made';
  const recent = before.recent.map((run) => ({ ...run, outcome: outcomes.get(run.id ?? '') ?? run.outcome }));
  const pending = before.pending.filter(({ id }) => !outcomes.has(id));
  return { ...before, pending, recent, open: before.open.filter(isOurs) };
}

/** `2026-03-29T01:00:00Z`, with its milliseconds unless they are 0: part of ids. */
export function runTimeText(slot: number): string {
  return new Date(slot).toISOString().replace('.000Z', 'Z');
}

/** Returns the tag that names the schedule of a job. */
export function scheduleTag(name: string): string {
  return `schedule:${name}`;
}

export type BoundedRule = Pick<ScheduleDefinition, 'rule' | 'fromAt' | 'untilAt'>;

/** Returns the first run time after a moment within the bounds. */
export function nextRunTime({ rule, fromAt, untilAt }: BoundedRule, after: number): number | null {
  const slot = runTimeAfter(rule, Math.max(after, (fromAt ?? 0) - 1));
  return slot === null || (untilAt !== null && slot > untilAt) ? null : slot;
}

/** Returns the first few run times after a moment. */
export function nextRunTimes(rule: BoundedRule, after: number, limit: number): readonly number[] {
  const slots: number[] = [];
  for (let slot = nextRunTime(rule, after); slot !== null && slots.length < limit; slot = nextRunTime(rule, slot))
    slots.push(slot);
  return slots;
}

/** Returns when the job of a run time is to run, with jitter: the same on every node. */
export function fireAt({ name, definition }: Pick<Schedule, 'name' | 'definition'>, slot: number): number {
  const { jitterMs } = definition;
  return jitterMs === 0 ? slot : slot + Math.floor(shareOf(`${name}@${slot}`) * (jitterMs + 1));
}

/**
 * Returns a share in [0, 1) that depends only on a text: FNV-1a, mixed so that neighbouring run times are far apart.
 */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
