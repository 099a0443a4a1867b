/** What a worker makes of the store's events: a reason to claim, or a reason to ask how one of its leases stands. */
import type { JobStore, StoreEvent, Unsubscribe } from '../../core/ports/job-store.ts';
import { WORK_EVENTS } from '../../core/ports/job-store.ts';
import type { Attempts } from '../attempt/attempts.ts';
import type { ClaimLoop } from './claim-loop.ts';

export interface EventWatch {
  readonly queues: readonly string[];
  readonly attempts: Attempts;
  readonly claims: ClaimLoop;
}

/** Somebody else did something to a job that may be running here: its next heartbeat says what, so it goes out now. */
const CONCERNS_HOLDER: ReadonlySet<StoreEvent['type']> = new Set(
  WORK_EVENTS.filter((type) => type !== 'queue' && type !== 'freed'),
);

export function watchEvents(jobs: JobStore, { queues, attempts, claims }: EventWatch): Unsubscribe {
  return jobs.subscribe((events) => {
    for (const event of events) {
      if (event.type === 'gap' || (mayBeClaimed(event) && queues.includes(event.queue))) claims.wake();
      if (CONCERNS_HOLDER.has(event.type)) askAbout(event.id, attempts);
    }
  }, 'work');
}

/** Waiting work, or a queue that may have been unpaused. */
function mayBeClaimed({ type, state }: StoreEvent): boolean {
  return state === 'waiting' || type === 'queue' || type === 'freed';
}

function askAbout(id: string, attempts: Attempts): void {
  for (const attempt of attempts.all()) if (attempt.job.id === id) void attempt.heartbeatNow();
}
