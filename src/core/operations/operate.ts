/**
 * Operator calls: cancel, requeue, move, delete. Each may name the attempt that the caller saw, so it can be repeated.
 */

import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { refuseDependents } from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { cancelled, isExpired, isHeld, keyAddress, moved, requeued } from '../lifecycle/lifecycle.ts';
import type { Cancel, CancelResult, Move, Requeue, TargetResult } from '../ports/job-store.ts';
import { refuse, refuseState } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { closedState } from '../settings/delete-queue.ts';
import { apply, eventOf, holdsKey, isRefused, keyHolderAgainst, takeKey, target } from './apply.ts';
import { followLeader } from './coalescing.ts';
import { applyWithDependents, countWaiting, leaveParents, notifyDependents, waitingBelow } from './dependents.ts';
import { unparkBehind } from './throttles.ts';
import { handOverPosition, precedingCall } from './webhook-order.ts';

export function cancel(table: Table, targets: readonly Cancel[], moment: Moment): readonly CancelResult[] {
  return targets.map((request) => cancelOne(table, request, moment));
}

function cancelOne(table: Table, request: Cancel, moment: Moment): CancelResult {
  const job = target(table, request);
  if (isRefused(job)) return job;
  if (job.state === 'cancelled') return { ok: true, outcome: 'cancelled' };
  const settings = table.settings(job.queue);
  const isAbandoned = isHeld(job, settings, moment.now) || isExpired(job, settings, moment);
  if (job.lease !== null && job.lease.cancelAskedAt !== null && !isAbandoned) return { ok: true, outcome: 'asked' };
  const change = cancelled(job, { now: moment.now, isAbandoned });
  if (typeof change === 'string') return refuseState(job, 'cancel');
  const waiting = request.dependents === undefined ? countWaiting(table, job) : 0;
  if (waiting > 0) return refuseDependents(job.id, waiting);
  const descendants = request.dependents === 'cancel' ? waitingBelow(table, job) : [];
  cancelAll(table, { job, change }, descendants, moment.now);
  return { ok: true, outcome: change.job.state === 'cancelled' ? 'cancelled' : 'asked' };
}

interface Cancelled {
  readonly job: Job;
  readonly change: Transition;
}

/**
 * Cancels all of them first and then applies the effects, so that the dependency rule applies to none of them. Reads
 * each one again, because a webhook of an earlier job may have become its dependent.
 */
function cancelAll(table: Table, { job, change }: Cancelled, descendants: readonly Job[], now: number): void {
  apply(table, job, change, now);
  handOverPosition(table, job, precedingCall(table, job), now);
  followLeader(table, job, change, now);
  const changes = [{ before: job, after: change.job }];
  for (const { id } of descendants) {
    const child = table.get(id);
    if (child === undefined) continue;
    // A job that waits for another is not running: its cancel is never refused.
    const end = cancelled(child, { now, isAbandoned: true }) as Transition;
    apply(table, child, end, now);
    handOverPosition(table, child, precedingCall(table, child), now);
    changes.push({ before: child, after: end.job });
  }
  notifyDependents(
    table,
    changes.filter(({ before }) => before.dependents > 0),
    now,
  );
}

export function requeue(table: Table, requeues: readonly Requeue[], { now }: Moment): readonly TargetResult[] {
  return requeues.map((request) => requeueOne(table, request, now));
}

function requeueOne(table: Table, request: Requeue, now: number): TargetResult {
  const job = target(table, request);
  if (isRefused(job)) return job;
  const queue = request.queue ?? job.queue;
  if (job.state === 'waiting' && job.queue === queue && request.steal !== true) return { ok: true, state: 'waiting' };
  const change = requeued(job, request, { now, isHeld: isHeld(job, table.settings(job.queue), now) });
  if (typeof change === 'string') return refuseState(job, 'requeue');
  const holder = keyHolderAgainst(table, job, queue, now);
  const closed = shutState(table, job.queue, queue);
  if (closed !== null) return refuse(`queue-${closed}`, `queue ${queue}`);
  if (holder !== undefined) return refuse('key-taken', `job ${job.id}`, holder);
  applyWithDependents(table, job, change, now);
  takeKey(table, change.job, now);
  return { ok: true, state: change.job.state };
}

export function move(table: Table, moves: readonly Move[], { now }: Moment): readonly TargetResult[] {
  return moves.map((request) => moveOne(table, request, now));
}

function moveOne(table: Table, request: Move, now: number): TargetResult {
  const job = target(table, request);
  if (isRefused(job)) return job;
  if (job.queue === request.queue && job.state !== 'running') return { ok: true, state: job.state };
  const change = moved(job, request, now);
  if (typeof change === 'string') return refuseState(job, 'move');
  const holder = holdsKey(table, job, now) ? keyHolderAgainst(table, job, request.queue, now) : undefined;
  const closed = shutState(table, job.queue, request.queue);
  if (closed !== null) return refuse(`queue-${closed}`, `queue ${request.queue}`);
  if (holder !== undefined) return refuse('key-taken', `job ${job.id}`, holder);
  applyWithDependents(table, job, change, now);
  return { ok: true, state: change.job.state };
}

/** Returns why the target queue refuses a job of another queue, or null. */
function shutState(table: Table, from: string, to: string): ReturnType<typeof closedState> {
  return from === to ? null : closedState(table.settings(to));
}

export function remove(table: Table, ids: readonly string[], { now }: Moment): readonly TargetResult[] {
  return ids.map((id) => {
    const job = table.get(id);
    if (job === undefined) return refuse('not-found', `job ${id}`);
    if (job.state === 'running') return refuseState(job, 'delete');
    removeWithKey(table, job, now);
    return { ok: true, state: job.state };
  });
}

export function removeWithKey(table: Table, job: Job, now: number): void {
  const preceding = isEnded(job.state) ? undefined : precedingCall(table, job);
  leaveParents(table, job);
  table.remove(job);
  if (job.state === 'waiting') unparkBehind(table, job);
  if (job.unique !== null) table.releaseKey(keyAddress(job.unique, job.queue), job.id);
  handOverPosition(table, job, preceding, now);
  table.emit(eventOf(job, 'deleted'));
  if (job.dependents > 0) notifyDependents(table, [{ before: job, after: null }], now);
}
