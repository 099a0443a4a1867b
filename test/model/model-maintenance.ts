/** Workers and maintenance in the model. Must never import from core/operations. */

import { ENDED_STATES, type Job } from '../../src/core/job/job.ts';
import type { Moment } from '../../src/core/lifecycle/clock.ts';
import { lost } from '../../src/core/lifecycle/lifecycle.ts';
import type { EndWorker, EndWorkerResult, MaintenanceResult, WorkerHeartbeat } from '../../src/core/ports/job-store.ts';
import { type Refused, refuse } from '../../src/core/ports/refusal.ts';
import { DRAFT_TTL_MS, WORKER_TTL_MS } from '../../src/core/settings/settings.ts';
import type { Model } from './model.ts';
import { applyAndNotify, expireLeases, forget } from './model-calls.ts';

export function keepWorker(
  model: Model,
  beat: WorkerHeartbeat,
  { now }: Moment,
): { ok: true; until: number } | Refused {
  const known = model.workers.find(({ id }) => id === beat.id);
  if (beat.kind === 'renew' && known === undefined) return refuse('worker-lost', `worker ${beat.id}`);
  const { kind: _kind, leaseMs, ...registration } = beat;
  const until = now + leaseMs;
  const worker = { ...registration, registeredAt: known?.registeredAt ?? now, seenAt: now, until };
  model.workers = [...model.workers.filter(({ id }) => id !== beat.id), worker];
  return { ok: true, until };
}

export function endWorker(model: Model, { id, kind }: EndWorker, { now }: Moment): EndWorkerResult {
  const held = kind === 'fail' ? model.running().filter((job) => job.lease.worker === id) : [];
  const isKnown = model.workers.some((worker) => worker.id === id);
  if (!isKnown && held.length === 0) return refuse('worker-lost', `worker ${id}`);
  for (const job of held)
    applyAndNotify(model, lost(job, model.settings(job.queue), now, 'its worker was failed'), now);
  forgetWorker(model, id);
  return { ok: true, returned: held.length };
}

function forgetWorker(model: Model, id: string): void {
  model.workers = model.workers.filter((worker) => worker.id !== id);
  model.claims = model.claims.filter(({ worker }) => worker !== id);
}

export function maintain(model: Model, limit: number, queues: readonly string[], moment: Moment): MaintenanceResult {
  const { now } = moment;
  let left = limit;
  const upTo = (jobs: readonly Job[]): number => {
    const before = left;
    for (const { id, state } of jobs.slice(0, left)) {
      // A job that waited for another of them has failed with it, and no longer matches.
      const job = model.get(id);
      if (job?.state !== state) continue;
      forget(model, job, now);
      left -= 1;
    }
    return before - left;
  };
  let overtaken = 0;
  for (const queue of queues) {
    const returned = expireLeases(model, queue, left, moment);
    overtaken += returned;
    left -= returned;
  }
  const drafts = model.jobs.filter((job) => job.state === 'draft' && job.createdAt < now - DRAFT_TTL_MS);
  const expiredDrafts = upTo(drafts.sort((a, b) => a.createdAt - b.createdAt || a.seq - b.seq));
  const pruned = queues.reduce((sum, queue) => sum + pruneQueue(model, queue, now, upTo), 0);
  model.limits.forgetBuckets(now);
  const gone = model.workers.filter((worker) => worker.until + WORKER_TTL_MS <= now);
  for (const worker of gone) forgetWorker(model, worker.id);
  return { overtaken, expiredDrafts, pruned, results: 0, forgottenWorkers: gone.length, more: left === 0 };
}

/** Keeps the newest jobs that fit together. */
function overBytes(ended: readonly Job[], most: number): readonly Job[] {
  const bytes = (jobs: readonly Job[]): number =>
    jobs.reduce(
      (sum, { data, result, checkpoint, steps }) =>
        sum + Buffer.byteLength(`${data}${result ?? ''}${checkpoint ?? ''}`) + (steps?.bytes ?? 0),
      0,
    );
  const first = ended.findIndex((_, index) => bytes(ended.slice(index)) <= most);
  return ended.slice(0, first === -1 ? ended.length : first);
}

/** Deletes by age first; only if nothing is too old by count, and then by bytes. */
function pruneQueue(model: Model, queue: string, now: number, upTo: (jobs: readonly Job[]) => number): number {
  let pruned = 0;
  for (const state of ENDED_STATES) {
    const { ms, count, bytes } = model.settings(queue).retention[state];
    const ended = [...model.in(queue, state)].sort((a, b) => endOf(a) - endOf(b) || a.seq - b.seq);
    const old = ms === null ? [] : ended.filter((job) => endOf(job) < now - ms);
    const many = count === null ? [] : ended.slice(0, Math.max(0, ended.length - count));
    const large = bytes === null ? [] : overBytes(ended, bytes);
    pruned += upTo([old, many, large].find((jobs) => jobs.length > 0) ?? []);
  }
  return pruned;
}

const endOf = (job: Job): number => job.endedAt ?? 0;
