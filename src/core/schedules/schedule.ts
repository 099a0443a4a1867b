/**
 * A schedule as it is kept: what somebody defined, and the marks of how far it has come. Pure.
 *
 *     slot ──due──▶ pending ──added to its queue──▶ a job, `open` until it has ended
 *       └────────▶ queued (policies queue and replace) ──▶ pending
 *
 * Invariant: every slot up to `mark` is decided; a slot after it is not. Whoever moves the mark (a put that names the
 * version it saw) owes the jobs in `pending`; whoever finds them owed adds them, and the same id twice is one job.
 */
import { sameJson } from '../input/same-json.ts';
import type { ScheduleRule } from './schedule-rule.ts';
import { slotAfter } from './schedule-rule.ts';

export const SCHEDULE_RECORD = 'schedule';

export const OVERLAPS = ['skip', 'queue', 'replace', 'allow'] as const;
export type Overlap = (typeof OVERLAPS)[number];

export interface ScheduleDefinition {
  readonly rule: ScheduleRule;
  /** No slot before, and none after. */
  readonly fromAt: number | null;
  readonly untilAt: number | null;
  readonly overlap: Overlap;
  readonly catchUpMs: number;
  /** How many slots that came due together are made up, the newest of them; null: all. */
  readonly backlog: number | null;
  readonly jitterMs: number;
  /** What a job's id ends in: `@` and its slot, or `-` and how many there were. */
  readonly ids: 'slot' | 'count';
  readonly job: ScheduledJob;
}

export interface ScheduledJob {
  readonly queue: string;
  /** JSON text. */
  readonly data: string;
  /** Options of `add`, as they were given. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A job that is owed: it is decided, and not yet known to be in its queue. */
export interface PendingRun {
  readonly id: string;
  readonly slot: number;
  readonly runAt: number;
}

export type RunOutcome = 'made' | 'skipped' | 'missed' | 'duplicate' | 'refused';

export interface Run {
  /** Of several that share a fate: the last one. */
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
  /** Jobs that had not ended when they were last looked at, and the last one made in any case. */
  readonly open: readonly string[];
  /** Newest first. */
  readonly recent: readonly Run[];
}

const MOST_RECENT = 20;
const MOST_OPEN = 100;

export function newSchedule(name: string, definition: ScheduleDefinition, now: number): Schedule {
  return {
    name,
    definition,
    createdAt: now,
    changedAt: now,
    pausedAt: null,
    note: null,
    // A slot at this very moment is still to come.
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
 * Another definition under the same name. Counts, open jobs and queued slots stay. The mark stays too unless the rule is
 * another one: then it begins now, since what the new rule would have done before was never asked for.
 */
export function redefined(before: Schedule, definition: ScheduleDefinition, now: number): Schedule {
  const isSameRule = sameJson(slotsOf(before.definition), slotsOf(definition));
  return { ...before, definition, changedAt: now, mark: isSameRule ? before.mark : Math.max(before.mark, now - 1) };
}

function slotsOf({ rule, fromAt, untilAt }: ScheduleDefinition) {
  return { rule, fromAt, untilAt };
}

export function pausedSchedule(before: Schedule, note: string | null, now: number): Schedule {
  return { ...before, pausedAt: before.pausedAt ?? now, note };
}

/** What fell into the pause is not made up: somebody wanted it not to happen. */
export function resumedSchedule(before: Schedule, now: number): Schedule {
  if (before.pausedAt === null) return before;
  return { ...before, pausedAt: null, note: null, mark: Math.max(before.mark, now - 1) };
}

/** A job by hand, whatever the rule, the pause and the policy say; later slots count it as one of theirs. */
export function runByHand(
  before: Schedule,
  now: number,
  id = `${before.name}@${slotText(now)}~now`,
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
  return [...new Set([...open, ...runs.map(({ id }) => id)])].slice(-MOST_OPEN);
}

export function withRuns(schedule: Schedule, runs: readonly Run[]): Schedule {
  return { ...schedule, recent: [...runs.toReversed(), ...schedule.recent].slice(0, MOST_RECENT) };
}

/** What came of adding what was owed. A job that another one stood in for, or that was refused, is not ours to wait for. */
export function settledRuns(before: Schedule, outcomes: ReadonlyMap<string, RunOutcome>): Schedule {
  if (!before.pending.some(({ id }) => outcomes.has(id))) return before;
  const isOurs = (id: string): boolean => (outcomes.get(id) ?? 'made') === 'made';
  const recent = before.recent.map((run) => ({ ...run, outcome: outcomes.get(run.id ?? '') ?? run.outcome }));
  const pending = before.pending.filter(({ id }) => !outcomes.has(id));
  return { ...before, pending, recent, open: before.open.filter(isOurs) };
}

/** `2026-03-29T01:00:00Z`, with its milliseconds where it has some: it stands in ids. */
export function slotText(slot: number): string {
  return new Date(slot).toISOString().replace('.000Z', 'Z');
}

/** The tag by which a job names its schedule. */
export function scheduleTag(name: string): string {
  return `schedule:${name}`;
}

export type BoundedRule = Pick<ScheduleDefinition, 'rule' | 'fromAt' | 'untilAt'>;

/** The first slot after a moment that the bounds allow. */
export function nextSlot({ rule, fromAt, untilAt }: BoundedRule, after: number): number | null {
  const slot = slotAfter(rule, Math.max(after, (fromAt ?? 0) - 1));
  return slot === null || (untilAt !== null && slot > untilAt) ? null : slot;
}

/** The first few slots after a moment. */
export function nextSlots(rule: BoundedRule, after: number, limit: number): readonly number[] {
  const slots: number[] = [];
  for (let slot = nextSlot(rule, after); slot !== null && slots.length < limit; slot = nextSlot(rule, slot))
    slots.push(slot);
  return slots;
}

/** When the job of a slot is to run: the same on every node. */
export function fireAt({ name, definition }: Pick<Schedule, 'name' | 'definition'>, slot: number): number {
  const { jitterMs } = definition;
  return jitterMs === 0 ? slot : slot + Math.floor(shareOf(`${name}@${slot}`) * (jitterMs + 1));
}

/** A share in [0, 1) that a text alone decides: FNV-1a, mixed so that neighbouring slots lie far apart. */
function shareOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
