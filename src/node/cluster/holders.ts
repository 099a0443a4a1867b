/** Who has what of a job, as far as the store tells: the node whose worker ran an attempt, those that were given a file. */
import type { Job } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { nodeOfWorker } from './node-entry.ts';

/** Null for an attempt that no node ran: a program's worker keeps no files. */
export async function holderOf(store: Store, job: Job, attempt: number): Promise<string | null> {
  if (job.attempt === attempt && job.lease !== null) return nodeOfWorker(job.lease.worker);
  const rows = await store.jobs.history(job.id);
  const claim = rows.findLast((row) => row.event === 'claimed' && row.attempt === attempt);
  return nodeOfWorker(claim?.by ?? null);
}
