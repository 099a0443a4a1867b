/** What people ask of jobs: cancel, requeue, move, change, delete. Each names the attempt it saw, so it can be repeated. */
import type { Moment } from '../clock.ts';
import type { CancelResult, JobChanges, Move, Requeue, Target, TargetResult } from '../job-store.ts';
import { cancelled, changed, isHeld, isOvertakable, keyAddress, moved, requeued } from '../lifecycle.ts';
import { refuse } from '../refusal.ts';
import type { Table } from '../table.ts';
import { apply, eventOf, holdsKey, isRefused, keyHolderAgainst, takeKey, target } from './apply.ts';

export function cancel(table: Table, targets: readonly Target[], moment: Moment): readonly CancelResult[] {
  return targets.map((ask) => cancelOne(table, ask, moment));
}

function cancelOne(table: Table, ask: Target, moment: Moment): CancelResult {
  const job = target(table, ask);
  if (isRefused(job)) return job;
  if (job.state === 'cancelled') return { ok: true, outcome: 'cancelled' };
  const settings = table.settings(job.queue);
  const isAbandoned = isHeld(job, settings, moment.now) || isOvertakable(job, settings, moment);
  if (job.lease !== null && job.lease.cancelAskedAt !== null && !isAbandoned) return { ok: true, outcome: 'asked' };
  const change = cancelled(job, { now: moment.now, isAbandoned });
  if (typeof change === 'string') return refuse(change, `job ${job.id}`);
  apply(table, job, change, moment.now);
  return { ok: true, outcome: change.job.state === 'cancelled' ? 'cancelled' : 'asked' };
}

export function requeue(table: Table, requeues: readonly Requeue[], { now }: Moment): readonly TargetResult[] {
  return requeues.map((ask) => requeueOne(table, ask, now));
}

function requeueOne(table: Table, ask: Requeue, now: number): TargetResult {
  const job = target(table, ask);
  if (isRefused(job)) return job;
  const queue = ask.queue ?? job.queue;
  if (job.state === 'waiting' && job.queue === queue) return { ok: true, state: 'waiting' };
  const change = requeued(job, ask, { now, isHeld: isHeld(job, table.settings(job.queue), now) });
  if (typeof change === 'string') return refuse(change, `job ${job.id}`);
  const holder = keyHolderAgainst(table, job, queue, now);
  if (isClosed(table, job.queue, queue)) return refuse('queue-down', `queue ${queue}`);
  if (holder !== undefined) return refuse('key-taken', `job ${job.id}`, holder);
  apply(table, job, change, now);
  takeKey(table, change.job, now);
  return { ok: true, state: change.job.state };
}

export function move(table: Table, moves: readonly Move[], { now }: Moment): readonly TargetResult[] {
  return moves.map((ask) => moveOne(table, ask, now));
}

function moveOne(table: Table, ask: Move, now: number): TargetResult {
  const job = target(table, ask);
  if (isRefused(job)) return job;
  if (job.queue === ask.queue && job.state !== 'running') return { ok: true, state: job.state };
  const change = moved(job, ask, now);
  if (typeof change === 'string') return refuse(change, `job ${job.id}`);
  const holder = holdsKey(table, job, now) ? keyHolderAgainst(table, job, ask.queue, now) : undefined;
  if (isClosed(table, job.queue, ask.queue)) return refuse('queue-down', `queue ${ask.queue}`);
  if (holder !== undefined) return refuse('key-taken', `job ${job.id}`, holder);
  apply(table, job, change, now);
  return { ok: true, state: change.job.state };
}

/** A queue that is down takes in nothing new, also not from another queue. */
function isClosed(table: Table, from: string, to: string): boolean {
  return from !== to && table.settings(to).state === 'down';
}

export function change(table: Table, changes: readonly JobChanges[], { now }: Moment): readonly TargetResult[] {
  return changes.map((ask) => {
    const job = target(table, ask);
    if (isRefused(job)) return job;
    const next = changed(job, ask, now);
    if (typeof next === 'string') return refuse(next, `job ${job.id}`);
    apply(table, job, next, now);
    return { ok: true, state: next.job.state };
  });
}

export function remove(table: Table, ids: readonly string[]): readonly TargetResult[] {
  return ids.map((id) => {
    const job = table.get(id);
    if (job === undefined) return refuse('not-found', `job ${id}`);
    if (job.state === 'running') return refuse('wrong-state', `job ${id}`);
    removeWithKey(table, job);
    return { ok: true, state: job.state };
  });
}

export function removeWithKey(table: Table, job: Parameters<Table['remove']>[0]): void {
  table.remove(job);
  if (job.unique !== null) table.releaseKey(keyAddress(job.unique, job.queue), job.id);
  table.emit(eventOf(job, 'deleted'));
}
