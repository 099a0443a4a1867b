/** The worker registry: registers and renews workers, and ends them. */
import type { Moment } from '../lifecycle/clock.ts';
import type { EndWorker, EndWorkerResult, WorkerHeartbeat, WorkerRecord } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { endLostAttempts } from './lost-leases.ts';

export function keepWorker(
  table: Table,
  beat: WorkerHeartbeat,
  { now }: Moment,
): { ok: true; until: number } | Refused {
  const known = table.worker(beat.id);
  if (beat.kind === 'renew' && known === undefined) return refuse('worker-lost', `worker ${beat.id}`);
  const { id, host, pid, queues, info } = beat;
  const registeredAt = known?.registeredAt ?? now;
  const until = now + beat.leaseMs;
  table.putWorker({ id, host, pid, queues, info, registeredAt, seenAt: now, until });
  return { ok: true, until };
}

/** Ends a worker. The jobs of a failed worker return at once, in one step. A deregistered worker keeps its leases. */
export function endWorker(table: Table, end: EndWorker, { now }: Moment): EndWorkerResult {
  const known = table.worker(end.id);
  const held = end.kind === 'fail' ? runningOf(table, end.id) : [];
  if (known === undefined && held.length === 0) return refuse('worker-lost', `worker ${end.id}`);
  endLostAttempts(table, held, 'its worker was failed', now);
  table.removeWorker(end.id);
  return { ok: true, returned: held.length };
}

export function workers(table: Table, { now }: Moment): readonly WorkerRecord[] {
  const running = table.allRunning();
  return table.workers().map((row) => ({
    ...row,
    isLost: row.until <= now,
    running: running.filter((job) => job.lease.worker === row.id).map((job) => job.id),
  }));
}

/** Returns the worker's jobs, oldest lease first, so that returned jobs keep their order. */
function runningOf(table: Table, worker: string) {
  return table
    .allRunning()
    .filter((job) => job.lease.worker === worker)
    .sort((a, b) => a.lease.until - b.lease.until || a.seq - b.seq);
}
