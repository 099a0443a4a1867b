/**
 * A Blueque task: a read-only view of a job in Blueque's words, as it was when it was read.
 */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';

/** The status of a task. */
export type TaskStatus = 'scheduled' | 'pending' | 'reserved' | 'started' | 'complete' | 'failed';

/** Times are seconds, as Python has them. Everything but the id is null where there is no such task. */
export interface Task {
  /** Its id. */
  readonly id: string;
  /** Its status. */
  readonly status: TaskStatus | null;
  /** Its queue. */
  readonly queue: string | null;
  /** The parameters given to `enqueue`. */
  readonly parameters: string | null;
  /** The result of a complete task. */
  readonly result: string | null;
  /** The error message of a failed task. */
  readonly error: string | null;
  /** The listener that took it: host_pid. */
  readonly node: string | null;
  /** The process that started it. */
  readonly pid: number | null;
  /** When it was added. */
  readonly created: number | null;
  /** When it last changed. */
  readonly updated: number | null;
  /** Only for one that was scheduled. */
  readonly eta: number | null;
  /** Of the listener's reservation: what a processor acts under. */
  readonly token: number | null;
}

/** The listener and process that ran a task, stored as its checkpoint because a lease ends with its attempt. */
export interface RanBy {
  readonly node: string;
  readonly pid: number;
}

const NOTHING: Omit<Task, 'id'> = {
  status: null,
  queue: null,
  parameters: null,
  result: null,
  error: null,
  node: null,
  pid: null,
  created: null,
  updated: null,
  eta: null,
  token: null,
};

export function taskOf(
  id: string,
  job: Job | null | undefined,
  read: { rows: readonly HistoryRow[]; now: number },
): Task {
  if (job === null || job === undefined) return { id, ...NOTHING };
  const ranBy = job.checkpoint === null ? null : (JSON.parse(job.checkpoint) as RanBy);
  const { lease } = job;
  return {
    id,
    status: statusOf(job, read.now),
    queue: job.queue,
    parameters: textOf(job.data),
    result: job.result === null ? null : textOf(job.result),
    error: errorOf(job),
    node: lease?.worker ?? ranBy?.node ?? null,
    pid: lease?.pid ?? ranBy?.pid ?? null,
    created: job.createdAt / 1_000,
    updated: updatedAt(job, read) / 1_000,
    eta: isScheduled(job) ? job.runAt / 1_000 : null,
    token: lease?.token ?? null,
  };
}

/** Returns whether the producer named a run time. A returned job gets a run time from its store, with a delay. */
const isScheduled = ({ runAt, createdAt, delayMs }: Job): boolean => delayMs === null && runAt > createdAt;

/** Returns the time of the last change. A start and progress are no rows of the history, nor is a run time that came. */
function updatedAt(job: Job, { rows, now }: { rows: readonly HistoryRow[]; now: number }): number {
  const came = job.state === 'waiting' && isScheduled(job) && job.runAt <= now ? job.runAt : 0;
  return Math.max(rows.at(-1)?.at ?? job.createdAt, job.lease?.startedAt ?? 0, job.progress?.at ?? 0, came);
}

function statusOf({ state, runAt, lease }: Job, now: number): TaskStatus {
  if (state === 'running') return lease?.startedAt == null ? 'reserved' : 'started';
  if (state === 'done') return 'complete';
  if (state === 'failed' || state === 'cancelled') return 'failed';
  return runAt > now || state === 'draft' ? 'scheduled' : 'pending';
}

function errorOf({ state, failure }: Job): string | null {
  if (state === 'cancelled') return 'cancelled';
  return state === 'failed' ? (failure?.message ?? '') : null;
}

/** Parameters and results are texts. Other values are returned as their JSON. */
function textOf(json: string): string {
  const value: unknown = JSON.parse(json);
  return typeof value === 'string' ? value : json;
}
