/** The answers of the schedule routes, as checks: they give the schemas, and the tests validate answers with them. */
import { anything, fields, flag, listOf, number, oneOf, orNull, text } from '../core/input/check.ts';
import { JOB_STATES } from '../core/job/job.ts';
import { OVERLAPS } from '../core/schedules/schedule.ts';
import { whole, word } from './port-checks.ts';

const at = number(0, 8.64e15);
const MAX_SCHEDULES = 100_000;
const MAX_RUNS = 2_000;
const freeText = text({ max: 4_096 });

const run = fields({
  slot: at,
  at,
  outcome: oneOf('made', 'skipped', 'missed', 'duplicate', 'refused'),
  id: orNull(word),
  count: whole,
  isByHand: flag,
  state: orNull(oneOf(...JOB_STATES)),
});

const view = {
  name: word,
  queue: word,
  words: freeText,
  cron: orNull(word),
  zone: orNull(word),
  every: orNull(word),
  offset: orNull(word),
  from: orNull(at),
  until: orNull(at),
  overlap: oneOf(...OVERLAPS),
  catchUp: word,
  backlog: orNull(whole),
  jitter: word,
  ids: oneOf('slot', 'count'),
  data: anything,
  options: anything,
  isPaused: flag,
  pausedAt: orNull(at),
  note: orNull(freeText),
  createdAt: at,
  changedAt: at,
  nextAt: orNull(at),
  upcoming: listOf(at, MAX_RUNS),
  recent: listOf(run, 100),
  queued: whole,
  made: whole,
  skipped: whole,
  missed: whole,
};

export const scheduleAnswer = fields(view);
export const setAnswer = fields({ ...view, outcome: oneOf('created', 'changed', 'unchanged') });
export const scheduleList = fields({ schedules: listOf(scheduleAnswer, MAX_SCHEDULES) });
export const ranAnswer = fields({ id: word });
export const ruleAnswer = fields({ words: freeText, upcoming: listOf(at, MAX_RUNS) });

/** `runs` are future run times; `isCut` means that there are more than listed. */
export const scheduleTimelines = fields({
  from: at,
  until: at,
  timelines: listOf(
    fields({
      name: word,
      queue: word,
      isPaused: flag,
      expectedMs: orNull(at),
      runs: listOf(at, MAX_RUNS),
      isCut: flag,
    }),
    MAX_SCHEDULES,
  ),
});
export type ScheduleTimelineList = ReturnType<typeof scheduleTimelines>;
