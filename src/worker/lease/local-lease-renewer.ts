/** A lease renewer on the main thread, for a store that only this object can reach. */
import type { JobStore } from '../../core/ports/job-store.ts';
import { HeartbeatLoop } from './heartbeat-loop.ts';
import type { LeaseRenewer, LeaseRenewerPlan, RenewerListener } from './lease-renewer.ts';

export function openLocalLeaseRenewer(jobs: JobStore, plan: LeaseRenewerPlan, emit: RenewerListener): LeaseRenewer {
  const heartbeats = new HeartbeatLoop({ plan, jobs, emit, kill: null });
  heartbeats.start();
  return {
    send: (update) => heartbeats.send(update),
    rename: (id) => heartbeats.rename(id),
    show: (info) => heartbeats.show(info),
    close: () => heartbeats.close(),
  };
}
