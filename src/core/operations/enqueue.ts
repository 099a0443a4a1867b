/** What a job gets with its place in line, whoever puts it there. */

import type { Job } from '../job/job.ts';
import { isBlocked } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { keyInLine } from '../limits/coalesce.ts';
import type { Table } from '../ports/table.ts';
import { withTurn } from './throttles.ts';

/** What its place in line asks for: a turn among the keys, what its equals find it by, and since when it can be claimed. */
export function inLine(table: Table, transition: Transition, before?: Job): Transition {
  const { job, row } = withTurn(table, transition);
  const coalesceKey = keyInLine(job, table.settings(job.queue));
  const isFreed = before !== undefined && isBlocked(before) && job.state === 'waiting' && !isBlocked(job);
  const freedAt = isFreed ? row.at : job.freedAt;
  return job.coalesceKey === coalesceKey && job.freedAt === freedAt
    ? { job, row }
    : { job: { ...job, coalesceKey, freedAt }, row };
}
