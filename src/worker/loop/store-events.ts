/** How a worker reacts to the store's events: it claims, or checks one of its leases. */
import type { JobStore, StoreEvent, Unsubscribe } from '../../core/ports/job-store.ts';
import { mayBeClaimed, WORK_EVENTS } from '../../core/ports/job-store.ts';
import type { RunningAttempts } from '../attempt/running-attempts.ts';
import type { ClaimLoop } from './claim-loop.ts';

export interface EventWatch {
  readonly queues: readonly string[];
  readonly attempts: RunningAttempts;
  readonly claims: ClaimLoop;
}

/** Changes by others to a job that may run here. The answer to a heartbeat tells which, so one is sent at once. */
const CONCERNS_HOLDER: ReadonlySet<StoreEvent['type']> = new Set(
  WORK_EVENTS.filter((type) => type !== 'queue' && type !== 'freed'),
);

export function watchEvents(jobs: JobStore, { queues, attempts, claims }: EventWatch): Unsubscribe {
  return jobs.subscribe((events) => {
    for (const event of events) {
      const isReason = event.type === 'gap' || (mayBeClaimed(event) && queues.includes(event.queue));
      if (isReason && event.type === 'adding') claims.wakeForAdd();
      else if (isReason) claims.wake();
      if (CONCERNS_HOLDER.has(event.type)) checkLeaseOf(event.id, attempts);
    }
  }, 'work');
}

function checkLeaseOf(id: string, attempts: RunningAttempts): void {
  for (const attempt of attempts.all()) if (attempt.job.id === id) void attempt.checkLease();
}
