/** Whether jobs that could start wait in a queue without any worker. One rule for web UI, command line and metrics. Pure. */
import type { QueueCounts, WorkerRecord } from '../ports/job-store.ts';
import type { QueueSettings } from '../settings/settings.ts';

/** The wait reason, as people read it. */
export const NO_WORKER = 'no worker is registered for this queue';

/** Returns how many waiting jobs could be claimed, as far as only time and other jobs matter. */
export function readyJobs({ waiting, blocked, scheduled }: QueueCounts): number {
  return Math.max(0, waiting - blocked - scheduled);
}

/** Returns the queues that a registered worker works on. */
export function workedQueues(workers: readonly WorkerRecord[]): ReadonlySet<string> {
  return new Set(workers.filter(({ isLost }) => !isLost).flatMap(({ queues }) => queues));
}

/** Returns whether the queue has a worker. One that is not registered shows by what it runs. */
export function hasWorker({ queue, running }: QueueCounts, worked: ReadonlySet<string>): boolean {
  return running > 0 || worked.has(queue);
}

/** Returns whether jobs wait for a worker that does not exist. A queue that is paused waits for its operator instead. */
export function isWithoutWorker(
  counts: QueueCounts,
  { state }: Pick<QueueSettings, 'state'>,
  worked: ReadonlySet<string>,
): boolean {
  return state === 'up' && readyJobs(counts) > 0 && !hasWorker(counts, worked);
}
