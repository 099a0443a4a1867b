/** What people ask of jobs: cancel, requeue, move, change, delete. Each names the attempt it saw, so it can be repeated. */

import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { refuseDependents } from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { cancelled, isHeld, isOvertakable, keyAddress, moved, requeued } from '../lifecycle/lifecycle.ts';
import type { Cancel, CancelResult, Move, Requeue, TargetResult } from '../ports/job-store.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { closedState } from '../settings/delete-queue.ts';
import { apply, eventOf, holdsKey, isRefused, keyHolderAgainst, takeKey, target } from './apply.ts';
import { followLeader } from './coalescing.ts';
import { applyWithDependents, countWaiting, leaveParents, tellDependents, waitingBelow } from './dependents.ts';
import { passOn } from './throttles.ts';
import { callInFront, handPlaceOn } from './webhook-order.ts';

export function cancel(table: Table, targets: readonly Cancel[], moment: Moment): readonly CancelResult[] {
  return targets.map((ask) => cancelOne(table, ask, moment));
}

function cancelOne(table: Table, ask: Cancel, moment: Moment): CancelResult {
  const job = target(table, ask);
  if (isRefused(job)) return job;
  if (job.state === 'cancelled') return { ok: true, outcome: 'cancelled' };
  const settings = table.settings(job.queue);
  const isAbandoned = isHeld(job, settings, moment.now) || isOvertakable(job, settings, moment);
  if (job.lease !== null && job.lease.cancelAskedAt !== null && !isAbandoned) return { ok: true, outcome: 'asked' };
  const change = cancelled(job, { now: moment.now, isAbandoned });
  if (typeof change === 'string') return refuse(change, `job ${job.id}`);
  const waiting = ask.dependents === undefined ? countWaiting(table, job) : 0;
  if (waiting > 0) return refuseDependents(job.id, waiting);
  const along = ask.dependents === 'cancel' ? waitingBelow(table, job) : [];
  cancelAll(table, { job, change }, along, moment.now);
  return { ok: true, outcome: change.job.state === 'cancelled' ? 'cancelled' : 'asked' };
}

interface Cancelled {
  readonly job: Job;
  readonly change: Transition;
}

/**
 * All of them first, and then what follows from it, so that none of them falls to the rule of those who are left. Each
 * as it is by then: a hook of one before it may have been put in line behind it.
 */
function cancelAll(table: Table, { job, change }: Cancelled, along: readonly Job[], now: number): void {
  apply(table, job, change, now);
  handPlaceOn(table, job, callInFront(table, job), now);
  followLeader(table, job, change, now);
  const turns = [{ before: job, after: change.job }];
  for (const { id } of along) {
    const child = table.get(id);
    if (child === undefined) continue;
    // One that waits for another runs nowhere: its cancel is never refused.
    const end = cancelled(child, { now, isAbandoned: true }) as Transition;
    apply(table, child, end, now);
    handPlaceOn(table, child, callInFront(table, child), now);
    turns.push({ before: child, after: end.job });
  }
  tellDependents(
    table,
    turns.filter(({ before }) => before.dependents > 0),
    now,
  );
}

export function requeue(table: Table, requeues: readonly Requeue[], { now }: Moment): readonly TargetResult[] {
  return requeues.map((ask) => requeueOne(table, ask, now));
}

function requeueOne(table: Table, ask: Requeue, now: number): TargetResult {
  const job = target(table, ask);
  if (isRefused(job)) return job;
  const queue = ask.queue ?? job.queue;
  if (job.state === 'waiting' && job.queue === queue && ask.steal !== true) return { ok: true, state: 'waiting' };
  const change = requeued(job, ask, { now, isHeld: isHeld(job, table.settings(job.queue), now) });
  if (typeof change === 'string') return refuse(change, `job ${job.id}`);
  const holder = keyHolderAgainst(table, job, queue, now);
  const shut = shutState(table, job.queue, queue);
  if (shut !== null) return refuse(`queue-${shut}`, `queue ${queue}`);
  if (holder !== undefined) return refuse('key-taken', `job ${job.id}`, holder);
  applyWithDependents(table, job, change, now);
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
  const shut = shutState(table, job.queue, ask.queue);
  if (shut !== null) return refuse(`queue-${shut}`, `queue ${ask.queue}`);
  if (holder !== undefined) return refuse('key-taken', `job ${job.id}`, holder);
  applyWithDependents(table, job, change, now);
  return { ok: true, state: change.job.state };
}

/** A queue that accepts no jobs accepts none from another queue either. */
function shutState(table: Table, from: string, to: string): ReturnType<typeof closedState> {
  return from === to ? null : closedState(table.settings(to));
}

export function remove(table: Table, ids: readonly string[], { now }: Moment): readonly TargetResult[] {
  return ids.map((id) => {
    const job = table.get(id);
    if (job === undefined) return refuse('not-found', `job ${id}`);
    if (job.state === 'running') return refuse('wrong-state', `job ${id}`);
    removeWithKey(table, job, now);
    return { ok: true, state: job.state };
  });
}

export function removeWithKey(table: Table, job: Job, now: number): void {
  const front = isEnded(job.state) ? undefined : callInFront(table, job);
  leaveParents(table, job);
  table.remove(job);
  if (job.state === 'waiting') passOn(table, job);
  if (job.unique !== null) table.releaseKey(keyAddress(job.unique, job.queue), job.id);
  handPlaceOn(table, job, front, now);
  table.emit(eventOf(job, 'deleted'));
  if (job.dependents > 0) tellDependents(table, [{ before: job, after: null }], now);
}
