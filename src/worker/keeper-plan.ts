/** What a worker's keeper is told at its start. */
import type { KeeperPlan } from './keeper.ts';
import type { WorkerOptions } from './worker.ts';

/** The lease of the worker's own registration, unless it was given one. */
const WORKER_LEASE_MS = 60_000;
const MIN_TICK_MS = 20;
const MAX_TICK_MS = 250;

export function keeperPlan(
  options: WorkerOptions,
  { id, memory }: { id: string; memory: SharedArrayBuffer },
): KeeperPlan {
  const { queues, host, pid, settingsFor, saysStarted = false, info = '{}', maxBlockMs = null } = options;
  const shortest = options.leaseMs ?? Math.min(...queues.map((queue) => settingsFor(queue).leaseMs));
  const leaseMs = options.leaseMs ?? WORKER_LEASE_MS;
  const tickMs = Math.min(MAX_TICK_MS, Math.max(MIN_TICK_MS, shortest / 8));
  return { memory, worker: { id, host, pid, queues, leaseMs, info }, tickMs, saysStarted, maxBlockMs };
}
