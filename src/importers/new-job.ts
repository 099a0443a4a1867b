/** A job of another system as a new job of Longhaul. Pure. */
import type { NewJob } from '../core/ports/job-store.ts';
import type { ForeignJob } from './foreign-job.ts';

/** Returns the job as it is added. */
export function newJob(job: ForeignJob): NewJob {
  const { id, queue, data, name, priority, tags, retries, throttles, runAt, state, dependsOn } = job;
  const policy = {
    ...job.policy,
    ...(retries !== null && { retries }),
    ...(throttles.length > 0 && { throttles }),
  };
  return {
    id,
    queue,
    data,
    ...(name !== null && { name }),
    ...(priority !== 0 && { priority }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(policy).length > 0 && { policy }),
    ...(runAt !== null && (state === 'waiting' || state === 'draft') && { runAt }),
    ...(state === 'draft' && { draft: true }),
    ...(dependsOn.length > 0 && { dependsOn }),
  };
}
