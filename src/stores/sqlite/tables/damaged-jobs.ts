/**
 * Jobs whose row is not what was written: a read that would return one throws, and a claim fails the job.
 *
 * Invariant: damaged data reaches no worker and no reader. Calls that do not return a job (cancel, delete, retention) work
 * on damaged jobs as on any other, so that they can be removed.
 */

import type { Job } from '../../../core/job/job.ts';
import type { Moment } from '../../../core/lifecycle/clock.ts';
import { perform } from '../../../core/operations/perform.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { ClaimResult, JobPage, Settlement } from '../../../core/ports/job-store.ts';
import type { Table } from '../../../core/ports/table.ts';
import type { RequestName } from '../engine/messages.ts';
import { damageOf, type Part } from './job-row.ts';

/** The same failure group as on Redis. */
const GROUP = 'data-corrupt';

/** Throws for the first damaged job of an answer. */
export function refuseDamaged(name: RequestName, answer: unknown): void {
  if (name === 'find') for (const job of answer as readonly (Job | null)[]) if (job !== null) refuse(job);
  if (name === 'list') for (const job of (answer as JobPage).jobs) refuse(job);
}

/** Throws when the job is damaged. */
export function refuse(job: Job): void {
  const part = damageOf(job);
  if (part === null) return;
  const remedy = 'restore a backup, or delete the job';
  throw new LonghaulError('data-corrupt', `the ${part} of job ${job.id} ${notWritten(part)}; ${remedy}`);
}

const notWritten = (part: Part): string =>
  part === 'record' ? 'cannot be read' : 'is not what was written: its checksum does not fit';

/** Fails the damaged jobs of a claim, in its transaction, and returns the others. */
export function withoutDamaged(table: Table, result: ClaimResult, moment: Moment): ClaimResult {
  const damaged = result.jobs.filter((job) => damageOf(job) !== null);
  if (damaged.length === 0) return result;
  perform(table, 'settle', damaged.map(failureOf), moment);
  const jobs = result.jobs.filter((job) => damageOf(job) === null);
  // The worker has free slots for the failed jobs: more jobs may be waiting behind them.
  return { ...result, jobs, nextAt: moment.now + 1 };
}

function failureOf(job: Job): Settlement {
  const part = damageOf(job) ?? 'record';
  const failure = { group: GROUP, message: `its ${part} ${notWritten(part)}`, detail: null };
  return { id: job.id, token: job.lease?.token ?? 0, kind: 'fail', failure, delayMs: 0, final: true };
}
