/**
 * Input check of a schedule, its conversion to a definition, and from there to jobs. All problems are reported at once.
 * The only place that knows the names, defaults and bounds of a definition.
 */
import type { AddOptions, GivenOptions } from '../input/add-options.ts';
import { ADD_SHAPE, newJobOf } from '../input/add-options.ts';
import type { Check, Checked, Report } from '../input/check.ts';
import { anything, checked, duration, integer, object, oneOf, orNull } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { toJsonText } from '../input/json.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import { queueName } from '../job/names.ts';
import { LonghaulError } from '../ports/errors.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { Overlap, PendingRun, Schedule, ScheduleDefinition } from './schedule.ts';
import { OVERLAPS, scheduleTag } from './schedule.ts';
import type { RuleInput } from './schedule-rule-input.ts';
import { checkRule, RULE_SHAPE, toRule } from './schedule-rule-input.ts';

/** The definition of a schedule. */
export interface ScheduleInput<Data = unknown> extends RuleInput {
  /** The queue of its jobs. */
  queue: string;
  /** The data of each job. */
  data?: Data;
  /** Options of each job: name, priority, tags, retries and so on. */
  options?: Omit<AddOptions, OwnOption>;
  /** When the previous job has not ended. Default: skip. */
  overlap?: Overlap;
  /** How late a run time may still be made up. Default: 1 day. */
  catchUp?: Duration;
  /** How many run times that are due together are made up, the newest of them; null: all. Default: 1. */
  backlog?: number | null;
  /** The maximum random delay of each job: the same for a run time on every node. Default: 0. */
  jitter?: Duration;
  /** The end of job ids. Default: slot. */
  ids?: 'slot' | 'count';
}

/** Options that a schedule sets itself. */
const OWN_OPTIONS = ['id', 'delay', 'runAt', 'draft', 'traceparent'] as const;
type OwnOption = (typeof OWN_OPTIONS)[number];

const MAX_BACKLOG = 1_000;
const DAY_MS = 86_400_000;
const MAX_TAGS = 99;

const backlogs = orNull(integer(1, MAX_BACKLOG));
const backlog: Check<number | null> = described(schemaOf(backlogs), (value: unknown, report: Report, path: string) => {
  if (value !== 0) return backlogs(value, report, path);
  report(path, 'must be at least 1, or null for all: with 0 nothing would ever run');
  return null;
});

const optionRules = object(jobOptions());
/** Checked, and stored as given: they are read again for each job. */
const options: Check<Readonly<Record<string, unknown>>> = described(
  schemaOf(optionRules),
  (value: unknown, report: Report, path: string): Readonly<Record<string, unknown>> => {
    const { tags = [] } = optionRules(value, report, path) ?? {};
    if (tags.length > MAX_TAGS)
      report(`${path}.tags`, `must be at most ${MAX_TAGS}, because one tag is reserved for the schedule`);
    return value as Readonly<Record<string, unknown>>;
  },
);

function jobOptions(): Omit<typeof ADD_SHAPE, OwnOption> {
  const own: ReadonlySet<string> = new Set(OWN_OPTIONS);
  return Object.fromEntries(Object.entries(ADD_SHAPE).filter(([name]) => !own.has(name))) as never;
}

const SHAPE = {
  ...RULE_SHAPE,
  queue: queueName,
  data: anything,
  options,
  overlap: oneOf(...OVERLAPS),
  catchUp: duration(),
  backlog,
  jitter: duration(),
  ids: oneOf('slot', 'count'),
};
const shape = object(SHAPE);
type Given = Checked<typeof SHAPE>;

/** Checks a schedule and returns it unchanged, for `toDefinition`. */
export const scheduleInput: Check<ScheduleInput> = described(
  { ...schemaOf(shape), required: ['queue'] },
  (value: unknown, report: Report, path: string): ScheduleInput => {
    read(value, report, path);
    return value as ScheduleInput;
  },
);

export function toDefinition(input: ScheduleInput): ScheduleDefinition {
  const given = checked('schedule', input, read);
  return {
    ...toRule(given),
    overlap: given.overlap ?? 'skip',
    catchUpMs: given.catchUp ?? DAY_MS,
    backlog: given.backlog === undefined ? 1 : given.backlog,
    jitterMs: given.jitter ?? 0,
    ids: given.ids ?? 'slot',
    job: { queue: given.queue ?? '', data: toJsonText('data', given.data), options: given.options ?? {} },
  };
}

const read: Check<Given> = (value, report, path) => {
  const given = shape(value, report, path);
  if (given === undefined) return {};
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if ((value as { queue?: unknown }).queue === undefined) report(at('queue'), 'is missing');
  checkRule(given, report, path);
  if (given.every !== undefined && (given.jitter ?? 0) >= given.every)
    report(at('jitter'), 'must be shorter than the interval');
  checkData(given.data, report, at('data'));
  return given;
};

function checkData(data: unknown, report: Report, path: string): void {
  try {
    toJsonText(path, data);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
    for (const problem of error.problems) report(`${path}${problem.path && `.${problem.path}`}`, problem.message);
  }
}

/** Returns the job of a pending run: not before its run time, and with the tag that names the schedule. */
export function jobOfRun({ name, definition }: Schedule, run: PendingRun): NewJob {
  const { queue, data } = definition.job;
  const given: GivenOptions = checked('options of the schedule', definition.job.options, optionRules);
  const job = newJobOf({ queue, data, newId: () => run.id }, given);
  return { ...job, runAt: run.runAt, tags: [...(job.tags ?? []), scheduleTag(name)] };
}
