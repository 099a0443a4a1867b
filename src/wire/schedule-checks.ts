/** What the routes of schedules answer: checks that describe it, and that tests hold the answers to. */
import { anything, fields, flag, listOf, number, oneOf, orNull, text } from '../core/input/check.ts';
import { JOB_STATES } from '../core/job/job.ts';
import { OVERLAPS } from '../core/schedules/schedule.ts';
import { whole, word } from './port-checks.ts';

const at = number(0, 8.64e15);
const MOST_SCHEDULES = 100_000;
const MOST_RUNS = 2_000;
const words = text({ max: 4_096 });

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
  words,
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
  note: orNull(words),
  createdAt: at,
  changedAt: at,
  nextAt: orNull(at),
  upcoming: listOf(at, MOST_RUNS),
  recent: listOf(run, 100),
  queued: whole,
  made: whole,
  skipped: whole,
  missed: whole,
};

export const scheduleAnswer = fields(view);
export const setAnswer = fields({ ...view, outcome: oneOf('created', 'changed', 'unchanged') });
export const scheduleList = fields({ schedules: listOf(scheduleAnswer, MOST_SCHEDULES) });
export const ranAnswer = fields({ id: word });
export const ruleAnswer = fields({ words, upcoming: listOf(at, MOST_RUNS) });

/** `runs` are those that have not come yet; `isCut`: there are more of them than are told. */
export const laneList = fields({
  from: at,
  until: at,
  lanes: listOf(
    fields({
      name: word,
      queue: word,
      isPaused: flag,
      expectedMs: orNull(at),
      runs: listOf(at, MOST_RUNS),
      isCut: flag,
    }),
    MOST_SCHEDULES,
  ),
});
export type LaneList = ReturnType<typeof laneList>;
