/** What the page's first look shows: every queue in a line, the totals of all, and each running job with what it uses. */

import type { Check } from '../core/input/check.ts';
import { fields, flag, integer, listOf, number, oneOf, orNull, text } from '../core/input/check.ts';
import { jobId } from '../core/job/names.ts';
import { QUEUE_STATES } from '../core/settings/settings.ts';
import { BASES } from './expected-end.ts';
import type { JobView } from './job-view.ts';
import { jobView } from './views.ts';

const amount = integer(0, Number.MAX_SAFE_INTEGER);
const at = number(0, 8.64e15);
const amountOfMs = number(0, 8.64e15);
const series = listOf(amount, 1_440);
const MOST_QUEUES = 100_000;

const queueRow = fields({
  name: text({ max: 128 }),
  state: oneOf(...QUEUE_STATES),
  note: orNull(text({ max: 1_000 })),
  /** What keeps this node from working it. */
  problem: orNull(text({ max: 4_096 })),
  /** Whether this node has a script for it. */
  hasScript: flag,
  waiting: amount,
  scheduled: amount,
  running: amount,
  failed: amount,
  done: amount,
  /** Since when the job that is next in turn has been ready. */
  oldestWaitAt: orNull(at),
  /** Jobs done in each of the last minutes, oldest first. */
  minutes: series,
  /** When it will be empty: by the pace of the last hour, else by how long its jobs usually run. */
  emptyAt: orNull(at),
  usualMs: orNull(amountOfMs),
});
export type QueueRow = ReturnType<typeof queueRow>;

export const overview = fields({
  now: at,
  waiting: amount,
  scheduled: amount,
  running: amount,
  failed: amount,
  doneToday: amount,
  /** Jobs done in each of the last minutes, oldest first. */
  minutes: series,
  nodes: amount,
  queues: listOf(queueRow, MOST_QUEUES),
});
export type Overview = ReturnType<typeof overview>;

const seriesPoint = fields({ at, cpuPercent: number(0, 1e6), rssBytes: amount });

/** The very check of a job's view, with the type that people read. */
const job = jobView as unknown as Check<JobView>;
const seen = {
  lastLine: orNull(text({ max: 4_096 })),
  lastOutputAt: orNull(at),
  samples: listOf(seriesPoint, 1_000),
};
const runningRow = fields({
  job,
  host: orNull(text({ max: 1_024 })),
  pid: orNull(amount),
  ...seen,
  heartbeatAt: orNull(at),
  /** By its own progress so far, by how long jobs of its queue usually run, or by both; null where neither tells. */
  expectedEndAt: orNull(at),
  expectedBy: orNull(oneOf(...BASES)),
  /** How long half of the queue's jobs run at the most; null while too few were seen. */
  usualMs: orNull(amountOfMs),
  /** It has run longer than nineteen of twenty do. */
  isSlow: flag,
  /** Nothing was heard of it for long: no output, no progress. */
  isSilent: flag,
});
export type RunningRow = ReturnType<typeof runningRow>;

export const MOST_GLANCES = 500;
/** What a node tells of the scripts that run on it. */
export const glances = fields({ glances: listOf(fields({ id: jobId, attempt: amount, ...seen }), MOST_GLANCES) });
export type RunningSummary = ReturnType<typeof glances>['glances'][number];

export const runningRows = fields({ now: at, rows: listOf(runningRow, 1_000), next: orNull(text({ max: 1_024 })) });
export type RunningRows = ReturnType<typeof runningRows>;

export const oneRunning = fields({ now: at, row: orNull(runningRow) });
export type OneRunning = ReturnType<typeof oneRunning>;
