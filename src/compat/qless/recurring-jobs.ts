/**
 * Recurring jobs: a schedule of Longhaul's with an interval, whose jobs are `<jid>-<n>`. They are created when a caller
 * pops or peeks the queue, at the time at which each was due, and no more than that caller asked for.
 *
 * The record with the new runs is written first, then the jobs are added: a process that dies in between loses none.
 */
import type { Schedule, ScheduleDefinition } from '../../core/schedules/schedule.ts';
import { nextRunTime, openWith, withOutcomes, withRuns } from '../../core/schedules/schedule.ts';
import { jobOfRun, toDefinition } from '../../core/schedules/schedule-input.ts';
import {
  findSchedule,
  listSchedules,
  putSchedule,
  rewriteSchedule,
  tooMany,
} from '../../schedules/schedule-records.ts';
import type { Call } from './arguments.ts';
import { flipped, queueThrottle } from './qless-job.ts';

/** A recurring job, with Longhaul's names. */
export interface Recurring {
  readonly queue: string;
  readonly klass: string;
  readonly data: string;
  readonly intervalMs: number;
  /** When the next job is due. */
  readonly nextMs: number;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly retries: number;
  readonly backlog: number;
  readonly throttles: readonly string[];
}

/** A pop creates what is due, however late it comes. */
const CATCH_UP = '36500d';

/** Invariant: the data is kept as it was given, byte for byte. */
export function definitionOf(recurring: Recurring): ScheduleDefinition {
  const { queue, klass, data, intervalMs, nextMs, priority, tags, retries, backlog, throttles } = recurring;
  const definition = toDefinition({
    queue,
    every: intervalMs,
    from: nextMs,
    options: { name: klass, priority, tags, retries, ...(throttles.length > 0 && { throttles }) },
    overlap: 'allow',
    ids: 'count',
    backlog: backlog === 0 ? null : backlog,
    catchUp: CATCH_UP,
  });
  const rule = { kind: 'every' as const, everyMs: intervalMs, anchorAt: nextMs };
  return { ...definition, rule, fromAt: nextMs, job: { ...definition.job, data } };
}

interface ScheduledOptions {
  readonly name: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly retries: number;
  readonly throttles?: readonly string[];
}

export function recurringOf({ definition, mark }: Schedule): Recurring {
  const { rule, job, backlog } = definition;
  const { name: klass, priority, tags, retries, throttles = [] } = job.options as unknown as ScheduledOptions;
  const intervalMs = rule.kind === 'every' ? rule.everyMs : 0;
  const nextMs = nextRunTime(definition, mark) ?? mark;
  const { queue, data } = job;
  return { queue, klass, data, intervalMs, nextMs, priority, tags, retries, backlog: backlog ?? 0, throttles };
}

export function recurringToJson(call: Call, schedule: Schedule): Readonly<Record<string, unknown>> {
  const { queue, klass, data, intervalMs, priority, tags, retries, backlog, throttles } = recurringOf(schedule);
  const about = { jid: schedule.name, klass, state: 'recur', queue, priority: flipped(priority), retries, data, tags };
  const own = call.dialect === 'reqless' ? { throttles: [...throttles, queueThrottle(queue)] } : {};
  return { ...about, interval: intervalMs / 1_000, count: schedule.made, backlog, ...own };
}

/** Returns the recurring jobs of a queue, the next one that is due first. */
export async function recurringIn({ longhaul }: Call, queue: string): Promise<readonly Schedule[]> {
  const kept = await listSchedules(longhaul.store.records);
  const own = kept.map(({ schedule }) => schedule).filter(({ definition }) => definition.job.queue === queue);
  return own.toSorted((a, b) => recurringOf(a).nextMs - recurringOf(b).nextMs);
}

const MOST_TRIES = 20;

/** Creates up to `count` jobs of these recurring jobs that are due. */
export async function fireRecurring(call: Call, recurring: readonly Schedule[], count: number): Promise<void> {
  let left = count;
  for (const { name } of recurring) left -= left > 0 ? await fire(call, name, left) : 0;
}

/** Returns how many jobs it created. */
async function fire(call: Call, name: string, most: number): Promise<number> {
  const { records } = call.longhaul.store;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const kept = await findSchedule(records, name);
    if (kept === null) return 0;
    if (kept.schedule.pending.length > 0) {
      await addPendingRuns(call, kept.schedule);
      continue;
    }
    const next = planned(kept.schedule, call.nowMs, most);
    if (next === kept.schedule) return 0;
    if (!(await putSchedule(records, next, kept.version))) continue;
    await addPendingRuns(call, next);
    return next.pending.length;
  }
  throw tooMany(name);
}

function planned(schedule: Schedule, nowMs: number, most: number): Schedule {
  const slots = dueTimes(recurringOf(schedule), nowMs, most);
  const last = slots.at(-1);
  if (last === undefined) return schedule;
  const runs = slots.map((slot, index) => ({ id: `${schedule.name}-${schedule.made + index + 1}`, slot, runAt: slot }));
  const rows = runs.map(({ id, slot }) => ({
    slot,
    at: nowMs,
    outcome: 'made' as const,
    id,
    count: 1,
    isByHand: false,
  }));
  const made = schedule.made + runs.length;
  return { ...withRuns(schedule, rows), mark: last, made, pending: runs, open: openWith(schedule.open, runs) };
}

/**
 * Returns the times that are due, oldest first. With a backlog, qless skips as many intervals as leave `backlog` of them,
 * and one more at a time that is due to the very moment.
 */
function dueTimes({ nextMs, intervalMs, backlog }: Recurring, nowMs: number, most: number): readonly number[] {
  const passed = (nowMs - nextMs) / intervalMs;
  const skipped = backlog > 0 && passed > backlog ? Math.ceil(passed - backlog) : 0;
  const times: number[] = [];
  for (let at = nextMs + skipped * intervalMs; at <= nowMs && times.length < most; at += intervalMs) times.push(at);
  return times;
}

/** Adds each job at the time at which it was due. The same id twice is one job. */
async function addPendingRuns(call: Call, schedule: Schedule): Promise<void> {
  const outcomes = new Map<string, 'made' | 'refused'>();
  for (const run of schedule.pending) {
    const [answer] = await call.at(run.runAt).jobs.add([jobOfRun(schedule, run)]);
    outcomes.set(run.id, answer?.ok === true ? 'made' : 'refused');
  }
  await rewriteSchedule(call.longhaul.store.records, schedule.name, (present) => withOutcomes(present, outcomes));
}
