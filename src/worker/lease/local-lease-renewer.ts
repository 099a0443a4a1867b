/** A renewer on the main thread, for a store that can only be reached through this very object. */
import type { JobStore } from '../../core/ports/job-store.ts';
import { LeaseBeats } from './heartbeats.ts';
import type { LeaseRenewer, LeaseRenewerPlan, TellNews } from './lease-renewer.ts';

export function openLocalLeaseRenewer(jobs: JobStore, plan: LeaseRenewerPlan, tell: TellNews): LeaseRenewer {
  const beats = new LeaseBeats({ plan, jobs, tell, kill: null });
  beats.start();
  return {
    say: (saying) => beats.say(saying),
    rename: (id) => beats.rename(id),
    close: () => beats.close(),
  };
}
