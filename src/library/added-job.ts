/** What `add` returns: the job's id, and a way to wait for its end. */
import type { Failure, Job } from '../core/job/job.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { AddOutcome, AddResult } from '../core/ports/job-store.ts';
import type { Connection } from './connection.ts';
import { readResult } from './files/large-result.ts';

/** A job that was added. */
export interface AddedJob<Result = unknown> {
  /** Its id. */
  readonly id: string;
  /** Its queue. */
  readonly queue: string;
  /** `exists`: a job had this id already. `duplicate`: another job holds the unique key, and this is that job. */
  readonly outcome: AddOutcome;
  /** Resolves to the result when the job is done, also one that is kept as a file. Rejects with `job-ended-badly` when it failed, was cancelled or deleted. */
  finished(options?: { signal?: AbortSignal }): Promise<Result>;
}

/** The parts of a connection that a wait for a result uses. */
type Waiting = Pick<Connection, 'endWaiter' | 'files'>;

export function addedJob<Result>(answer: AddResult, waiting: Waiting): AddedJob<Result> {
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message, { refusal: answer.refusal });
  const { id, queue, outcome } = answer;
  return { id, queue, outcome, finished: (options = {}) => finished<Result>(waiting, id, options.signal) };
}

export async function finished<Result>(
  { endWaiter, files }: Waiting,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const job = await endWaiter.wait(id, signal);
  if (job.state === 'done') return (await readResult(files, job)) as Result;
  const { message, failure } = badEnd(job);
  throw new LonghaulError('job-ended-badly', message, failure === null ? {} : { cause: failure });
}

function badEnd(job: Job): { readonly message: string; readonly failure: Failure | null } {
  if (job.state === 'cancelled') return { message: `job ${job.id} was cancelled`, failure: null };
  return { message: `job ${job.id} failed: ${job.failure?.message ?? 'no reason was given'}`, failure: job.failure };
}
