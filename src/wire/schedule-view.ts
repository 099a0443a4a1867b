/** A schedule as the API shows it: its rule, described and as input again, its next run times and its last runs. */
import type { JobState } from '../core/job/job.ts';
import type { Overlap, Run, Schedule, ScheduleDefinition } from '../core/schedules/schedule.ts';
import { fireAt, nextRunTime } from '../core/schedules/schedule.ts';
import { nextRunAt } from '../core/schedules/schedule-plan.ts';
import { describeRule } from './describe-rule.ts';
import { exactDuration } from './spans.ts';

export interface RunView extends Run {
  /** The state of its job; null if there is no job, or it was deleted. */
  readonly state: JobState | null;
}

/** A schedule as the API shows it. */
export interface ScheduleView {
  /** Its name. */
  readonly name: string;
  /** The queue of its jobs. */
  readonly queue: string;
  /** The rule in plain English. */
  readonly words: string;
  /** The cron rule; null for a schedule with an interval. */
  readonly cron: string | null;
  /** The time zone of the cron rule. */
  readonly zone: string | null;
  /** The interval; null for a schedule with a cron rule. */
  readonly every: string | null;
  /** The offset of the interval. */
  readonly offset: string | null;
  /** When it begins; null for at once. */
  readonly from: number | null;
  /** When it ends; null for never. */
  readonly until: number | null;
  /** What happens at a run time while the job before has not ended. */
  readonly overlap: Overlap;
  /** How late a missed run time is made up. */
  readonly catchUp: string;
  /** How many missed run times are made up; null for all. */
  readonly backlog: number | null;
  /** The longest random delay of a job. */
  readonly jitter: string;
  /** Whether the ids of its jobs end in the run time or in a count. */
  readonly ids: 'slot' | 'count';
  /** The data of each job. */
  readonly data: unknown;
  /** The options of each job. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether it is paused. */
  readonly isPaused: boolean;
  /** When it was paused. */
  readonly pausedAt: number | null;
  /** Why it is paused. */
  readonly note: string | null;
  /** When it was created. */
  readonly createdAt: number;
  /** When its definition last changed. */
  readonly changedAt: number;
  /** The next run time; in the past if no process runs the schedules, null if it is paused or has ended. */
  readonly nextAt: number | null;
  /** The next run times from now on; a paused schedule has them too. */
  readonly upcoming: readonly number[];
  /** Newest first. */
  readonly recent: readonly RunView[];
  /** Run times that wait for an earlier job to end. */
  readonly queued: number;
  /** How many jobs it has created. */
  readonly made: number;
  /** How many run times it skipped because the job before had not ended. */
  readonly skipped: number;
  /** How many run times passed too long ago to be made up. */
  readonly missed: number;
}

const SHOWN_UPCOMING = 5;

export interface ViewBasis {
  readonly now: number;
  /** The states of the jobs of `recent`, by id. */
  readonly states: ReadonlyMap<string, JobState>;
}

export function scheduleView(schedule: Schedule, { now, states }: ViewBasis): ScheduleView {
  const { name, definition, pausedAt, note, createdAt, changedAt, made, skipped, missed } = schedule;
  const { overlap, backlog, ids, job } = definition;
  return {
    name,
    queue: job.queue,
    ...ruleFields(definition),
    overlap,
    catchUp: exactDuration(definition.catchUpMs),
    backlog,
    jitter: exactDuration(definition.jitterMs),
    ids,
    data: JSON.parse(job.data),
    options: job.options,
    isPaused: pausedAt !== null,
    pausedAt,
    note,
    createdAt,
    changedAt,
    nextAt: nextRunAt(schedule),
    upcoming: upcomingRuns(schedule, { after: now, until: Number.POSITIVE_INFINITY, limit: SHOWN_UPCOMING }),
    recent: schedule.recent.map((run) => ({ ...run, state: states.get(run.id ?? '') ?? null })),
    queued: schedule.queued.length,
    made,
    skipped,
    missed,
  };
}

function ruleFields(definition: ScheduleDefinition) {
  const { rule, fromAt, untilAt } = definition;
  const bounds = { words: describeRule(rule), from: fromAt, until: untilAt };
  if (rule.kind === 'cron') return { ...bounds, cron: rule.cron, zone: rule.zone, every: null, offset: null };
  const offset = exactDuration(rule.anchorAt - (fromAt ?? 0));
  return { ...bounds, cron: null, zone: null, every: exactDuration(rule.everyMs), offset };
}

export interface Window {
  readonly after: number;
  readonly until: number;
  readonly limit: number;
}

/** Returns the run times in (after, until], up to the limit. A pause is ignored. */
export function upcomingRuns(schedule: Pick<Schedule, 'name' | 'definition' | 'mark'>, window: Window): number[] {
  const runs: number[] = [];
  const { definition, mark } = schedule;
  // Jitter can move a run time from before the window into it.
  let runTime = nextRunTime(definition, Math.max(mark, window.after - definition.jitterMs - 1));
  while (runTime !== null && runTime <= window.until && runs.length < window.limit) {
    const at = fireAt(schedule, runTime);
    if (at > window.after && at <= window.until) runs.push(at);
    runTime = nextRunTime(definition, runTime);
  }
  return runs;
}
