/** What a job gets with its place in line, whoever puts it there. */
import { keyInLine } from '../coalesce.ts';
import type { Transition } from '../lifecycle.ts';
import type { Table } from '../table.ts';
import { withTurn } from './throttles.ts';

/** What its place in line asks for: a turn among the keys, and what its equals find it by. */
export function inLine(table: Table, transition: Transition): Transition {
  const { job, row } = withTurn(table, transition);
  const coalesceKey = keyInLine(job, table.settings(job.queue));
  return job.coalesceKey === coalesceKey ? { job, row } : { job: { ...job, coalesceKey }, row };
}
