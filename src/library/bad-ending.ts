/** What is thrown to whoever waits for a job that ended failed or cancelled. Its own class of error would say no more. */
import type { Failure, Job } from '../core/job/job.ts';

export function badEnding(job: Job): { readonly message: string; readonly failure: Failure | null } {
  if (job.state === 'cancelled') return { message: `job ${job.id} was cancelled`, failure: null };
  return { message: `job ${job.id} failed: ${job.failure?.message ?? 'no reason was given'}`, failure: job.failure };
}
