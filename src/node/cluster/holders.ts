/** Finds the node that has the files of an attempt, from the store's history. */
import { isStart } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { nodeOfWorker } from './node-entry.ts';

/** Returns null for an attempt that no node ran: a library worker keeps no files. */
export async function holderOf(store: Store, job: Job, attempt: number): Promise<string | null> {
  if (job.attempt === attempt && job.lease !== null) return nodeOfWorker(job.lease.worker);
  const rows = await store.jobs.history(job.id);
  const claim = rows.findLast((row) => isStart(row.event) && row.attempt === attempt);
  return nodeOfWorker(claim?.by ?? null);
}
