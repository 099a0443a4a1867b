/** The plan that a worker gives its lease renewer. */
import type { WorkerOptions } from '../loop/worker.ts';
import type { LeaseRenewerPlan } from './lease-renewer.ts';

/** The lease of the worker's registration, unless the worker has a lease option. */
const WORKER_LEASE_MS = 60_000;
const MIN_TICK_MS = 20;
const MAX_TICK_MS = 250;
/** While the lease table is empty. */
const MAX_CALM_TICK_MS = 1_000;

export function leaseRenewerPlan(
  options: WorkerOptions,
  { id, memory }: { id: string; memory: SharedArrayBuffer },
): LeaseRenewerPlan {
  const { queues, host, pid, settingsFor, reportsStart = false, info = '{}', maxBlockMs = null } = options;
  const shortest = options.leaseMs ?? Math.min(...queues.map((queue) => settingsFor(queue).leaseMs));
  const leaseMs = options.leaseMs ?? WORKER_LEASE_MS;
  const often = Math.max(MIN_TICK_MS, shortest / 8);
  const tickMs = Math.min(MAX_TICK_MS, often);
  // A main thread with a limit on blocking is always watched at the short interval.
  const calmTickMs = maxBlockMs === null ? Math.min(MAX_CALM_TICK_MS, often) : tickMs;
  return { memory, worker: { id, host, pid, queues, leaseMs, info }, tickMs, calmTickMs, reportsStart, maxBlockMs };
}
