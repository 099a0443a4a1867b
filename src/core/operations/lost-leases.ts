/** Attempts that end because nobody is there any more who would say how they went. */
import type { RunningJob } from '../job/job.ts';
import { isRunning } from '../job/job.ts';
import { lost } from '../lifecycle/lifecycle.ts';
import type { Table } from '../ports/table.ts';
import { applyWithDependents } from './dependents.ts';

/** In their order, each as it is by then: a hook that one before it has left may have been put in line behind it. */
export function loseAll(table: Table, jobs: readonly RunningJob[], note: string, now: number): void {
  for (const { id } of jobs) {
    const job = table.get(id);
    if (job !== undefined && isRunning(job))
      applyWithDependents(table, job, lost(job, table.settings(job.queue), now, note), now);
  }
}
