/** The overview of the web UI: one row per queue, totals, and one row per running job with its resource usage. */
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
const MAX_QUEUES = 100_000;

const queueRow = fields({
  name: text({ max: 128 }),
  state: oneOf(...QUEUE_STATES),
  note: orNull(text({ max: 1_000 })),
  /** Why this node does not work the queue; null when it does. */
  problem: orNull(text({ max: 4_096 })),
  /** Whether jobs that could start wait without any worker. */
  isWithoutWorker: flag,
  /** Whether this node has a script for it. */
  hasScript: flag,
  waiting: amount,
  scheduled: amount,
  running: amount,
  failed: amount,
  done: amount,
  /** When the next job in claim order became ready. */
  oldestWaitAt: orNull(at),
  /** Jobs done in each of the last minutes, oldest first. */
  minutes: series,
  /** Estimated time at which the queue is empty: from the recent rate, else from the usual run time. */
  emptyAt: orNull(at),
  /** What the estimate is based on, such as `3.2 per minute in the last 12 minutes`; null without an estimate. */
  emptyBasis: orNull(text({ max: 200 })),
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
  queues: listOf(queueRow, MAX_QUEUES),
});
export type Overview = ReturnType<typeof overview>;

const seriesPoint = fields({ at, cpuPercent: number(0, 1e6), rssBytes: amount });

/** The check of a job view, with its precise type. */
const job = jobView as unknown as Check<JobView>;
const summary = {
  lastLine: orNull(text({ max: 4_096 })),
  lastOutputAt: orNull(at),
  samples: listOf(seriesPoint, 1_000),
};
const runningRow = fields({
  job,
  host: orNull(text({ max: 1_024 })),
  pid: orNull(amount),
  ...summary,
  heartbeatAt: orNull(at),
  /** Estimated from progress, from the usual run time of the queue, or from both; null without an estimate. */
  expectedEndAt: orNull(at),
  expectedBy: orNull(oneOf(...BASES)),
  /** The median run time of the queue's jobs; null with too few samples. */
  usualMs: orNull(amountOfMs),
  /** Whether it has run longer than the 95th percentile. */
  isSlow: flag,
  /** Whether it has sent no output and no progress for a long time. */
  isSilent: flag,
});
export type RunningRow = ReturnType<typeof runningRow>;

export const MAX_SUMMARIES = 500;
/** Summaries of the scripts that run on one node. */
export const runningSummaries = fields({
  summaries: listOf(fields({ id: jobId, attempt: amount, ...summary }), MAX_SUMMARIES),
});
export type RunningSummary = ReturnType<typeof runningSummaries>['summaries'][number];

export const runningRows = fields({ now: at, rows: listOf(runningRow, 1_000), next: orNull(text({ max: 1_024 })) });
export type RunningRows = ReturnType<typeof runningRows>;

export const oneRunning = fields({ now: at, row: orNull(runningRow) });
export type OneRunning = ReturnType<typeof oneRunning>;
