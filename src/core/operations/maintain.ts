/**
 * Maintenance in small steps: returns expired leases, deletes old drafts, ended jobs beyond retention, and old
 * statistics. It is a call of its own and never a side effect of the end of a job.
 */
import type { Moment } from '../lifecycle/clock.ts';
import type { Maintenance, MaintenanceResult } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import { DRAFT_TTL_MS, WORKER_TTL_MS } from '../settings/settings.ts';
import { expireLeases } from './claim.ts';
import { pruneQueue, pruneResults, removeAll } from './retention.ts';
import { forgetStatistics } from './statistics.ts';

export function maintain(table: Table, { limit }: Maintenance, moment: Moment): MaintenanceResult {
  let left = limit;
  const spend = (step: (limit: number) => number): number => {
    const spent = left > 0 ? step(left) : 0;
    left -= spent;
    return spent;
  };
  const queues = table.queues();
  const overtaken = sum(queues, (queue) => spend((most) => expireLeases(table, queue, most, moment)));
  // During a migration nothing is pruned or deleted.
  if (table.closed() !== null)
    return { overtaken, expiredDrafts: 0, pruned: 0, results: 0, forgottenWorkers: 0, more: left <= 0 };
  const expiredDrafts = spend((most) =>
    removeAll(table, table.draftsBefore(moment.now - DRAFT_TTL_MS, most), moment.now),
  );
  const pruned = sum(queues, (queue) => spend((most) => pruneQueue(table, queue, most, moment.now)));
  const results = sum(queues, (queue) => spend((most) => pruneResults(table, queue, most, moment.now)));
  for (const queue of queues) forgetStatistics(table, queue, limit, moment.now);
  table.forgetBuckets(moment.now, limit);
  const forgottenWorkers = forgetWorkers(table, moment.now);
  return { overtaken, expiredDrafts, pruned, results, forgottenWorkers, more: left <= 0 || table.clockStep() !== null };
}

function forgetWorkers(table: Table, now: number): number {
  const gone = table.workers().filter((worker) => worker.until + WORKER_TTL_MS <= now);
  for (const worker of gone) table.removeWorker(worker.id);
  return gone.length;
}

function sum(queues: readonly string[], each: (queue: string) => number): number {
  return queues.reduce((total, queue) => total + each(queue), 0);
}
