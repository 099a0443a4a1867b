/** The worker registry: who says it is there, until when, and what happens when somebody says that it is not. */
import type { Moment } from '../lifecycle/clock.ts';
import type { EndWorker, EndWorkerResult, WorkerBeat, WorkerRecord } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { loseAll } from './lost-leases.ts';

export function keepWorker(table: Table, beat: WorkerBeat, { now }: Moment): { ok: true; until: number } | Refused {
  const known = table.worker(beat.id);
  if (beat.kind === 'renew' && known === undefined) return refuse('worker-lost', `worker ${beat.id}`);
  const { id, host, pid, queues, info } = beat;
  const registeredAt = known?.registeredAt ?? now;
  const until = now + beat.leaseMs;
  table.putWorker({ id, host, pid, queues, info, registeredAt, seenAt: now, until });
  return { ok: true, until };
}

/** A failed worker's jobs come back at once, in one step. One that ends by itself keeps what it still holds. */
export function endWorker(table: Table, end: EndWorker, { now }: Moment): EndWorkerResult {
  const known = table.worker(end.id);
  const held = end.kind === 'fail' ? runningOf(table, end.id) : [];
  if (known === undefined && held.length === 0) return refuse('worker-lost', `worker ${end.id}`);
  loseAll(table, held, 'its worker was failed', now);
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

/** Oldest lease first, so that what comes back keeps its order. */
function runningOf(table: Table, worker: string) {
  return table
    .allRunning()
    .filter((job) => job.lease.worker === worker)
    .sort((a, b) => a.lease.until - b.lease.until || a.seq - b.seq);
}
