/** Sets the fields that a job gets when it enters a queue, whatever call puts it there. */

import type { Job } from '../job/job.ts';
import { isBlocked } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { claimableKey } from '../limits/coalesce.ts';
import type { Table } from '../ports/table.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { withTurn } from './throttles.ts';

/** Returns whether `enterQueue` reads the data of a new job. */
export function entryDependsOnData({ keys, coalesce }: QueueSettings): boolean {
  return keys !== null || coalesce !== null;
}

/** Sets a job's turn among the keys, the key by which equal jobs find it, and since when it can be claimed. */
export function enterQueue(table: Table, transition: Transition, before?: Job): Transition {
  const { job, row } = withTurn(table, transition);
  const coalesceKey = claimableKey(job, table.settings(job.queue));
  const isFreed = before !== undefined && isBlocked(before) && job.state === 'waiting' && !isBlocked(job);
  const freedAt = isFreed ? row.at : job.freedAt;
  return job.coalesceKey === coalesceKey && job.freedAt === freedAt
    ? { job, row }
    : { job: { ...job, coalesceKey, freedAt }, row };
}
