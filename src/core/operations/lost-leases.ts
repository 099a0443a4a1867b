/** Ends attempts whose worker is lost. */
import type { RunningJob } from '../job/job.ts';
import { isRunning } from '../job/job.ts';
import { lost } from '../lifecycle/lifecycle.ts';
import type { Table } from '../ports/table.ts';
import { applyWithDependents } from './dependents.ts';

/**
 * Ends them in their order. Reads each one again, because a webhook of an earlier job may have become its dependent.
 */
export function endLostAttempts(table: Table, jobs: readonly RunningJob[], note: string, now: number): void {
  for (const { id } of jobs) {
    const job = table.get(id);
    if (job !== undefined && isRunning(job))
      applyWithDependents(table, job, lost(job, table.settings(job.queue), now, note), now);
  }
}
