/** What `add` gives back: the job's address, and a way to wait for its end. */

import { LonghaulError } from '../core/ports/errors.ts';
import type { AddOutcome, AddResult } from '../core/ports/job-store.ts';
import { badEnding } from './bad-ending.ts';
import type { Endings } from './endings.ts';

/** A job that was added. */
export interface AddedJob<Result = unknown> {
  /** Its id. */
  readonly id: string;
  /** Its queue. */
  readonly queue: string;
  /** `exists`: this id was there before. `duplicate`: another job holds the unique key, and this is that job. */
  readonly outcome: AddOutcome;
  /** The result once it is done. Rejects with `job-ended-badly` when it failed, was cancelled or deleted. */
  finished(options?: { signal?: AbortSignal }): Promise<Result>;
}

export function addedJob<Result>(answer: AddResult, endings: Endings): AddedJob<Result> {
  if (!answer.ok) throw new LonghaulError('refused', answer.refusal.message, { refusal: answer.refusal });
  const { id, queue, outcome } = answer;
  return { id, queue, outcome, finished: (options = {}) => finished<Result>(endings, id, options.signal) };
}

export async function finished<Result>(endings: Endings, id: string, signal: AbortSignal | undefined): Promise<Result> {
  const job = await endings.of(id, signal);
  if (job.state === 'done') return JSON.parse(job.result ?? 'null') as Result;
  const { message, failure } = badEnding(job);
  throw new LonghaulError('job-ended-badly', message, failure === null ? {} : { cause: failure });
}
