/**
 * Maintenance in small steps: lost leases come back, old drafts expire, ended jobs beyond their retention go, and old statistics.
 * It runs by itself and never because another job ended.
 */
import type { Moment } from '../clock.ts';
import type { Job } from '../job.ts';
import { ENDED_STATES } from '../job.ts';
import type { Maintenance, MaintenanceResult } from '../job-store.ts';
import type { Keep } from '../settings.ts';
import { DRAFT_LIFE_MS, WORKER_MEMORY_MS } from '../settings.ts';
import type { Table } from '../table.ts';
import { overtake } from './claim.ts';
import { removeWithKey } from './operate.ts';
import { forgetStatistics } from './statistics.ts';

export function maintain(table: Table, { limit }: Maintenance, moment: Moment): MaintenanceResult {
  let left = limit;
  const spend = (step: (limit: number) => number): number => {
    const spent = left > 0 ? step(left) : 0;
    left -= spent;
    return spent;
  };
  const queues = table.queues();
  const overtaken = sum(queues, (queue) => spend((most) => overtake(table, queue, most, moment)));
  const expiredDrafts = spend((most) =>
    removeAll(table, table.draftsBefore(moment.now - DRAFT_LIFE_MS, most), moment.now),
  );
  const pruned = sum(queues, (queue) => spend((most) => pruneQueue(table, queue, most, moment.now)));
  for (const queue of queues) forgetStatistics(table, queue, limit, moment.now);
  const forgottenWorkers = forgetWorkers(table, moment.now);
  return { overtaken, expiredDrafts, pruned, forgottenWorkers, more: left <= 0 };
}

function pruneQueue(table: Table, queue: string, limit: number, now: number): number {
  const { retention } = table.settings(queue);
  let left = limit;
  for (const state of ENDED_STATES)
    left -= removeAll(table, surplus(table, { queue, state, keep: retention[state] }, left, now), now);
  return limit - left;
}

function surplus(
  table: Table,
  what: { queue: string; state: Job['state']; keep: Keep },
  limit: number,
  now: number,
): readonly Job[] {
  const { queue, state, keep } = what;
  if (limit <= 0) return [];
  const old = keep.ms === null ? [] : table.endedBefore(queue, state, now - keep.ms, limit);
  if (old.length > 0 || keep.count === null) return old;
  return table.endedBeyond(queue, state, keep.count, limit);
}

/** Each as it is by then: one that waited for another of them has failed with it, and is kept as a failed one is. */
function removeAll(table: Table, jobs: readonly Job[], now: number): number {
  const hasFamily = jobs.some(({ dependents }) => dependents > 0);
  const present = (job: Job): Job => (hasFamily ? (table.get(job.id) ?? job) : job);
  let removed = 0;
  for (const listed of jobs) {
    const job = present(listed);
    if (job.state !== listed.state) continue;
    removeWithKey(table, job, now);
    removed += 1;
  }
  return removed;
}

function forgetWorkers(table: Table, now: number): number {
  const gone = table.workers().filter((worker) => worker.until + WORKER_MEMORY_MS <= now);
  for (const worker of gone) table.removeWorker(worker.id);
  return gone.length;
}

function sum(queues: readonly string[], each: (queue: string) => number): number {
  return queues.reduce((total, queue) => total + each(queue), 0);
}
