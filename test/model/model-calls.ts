/**
 * The mutating calls of the port in the model, each in its plainest form.
 *
 * Must never import from core/operations: the model exists to detect its mistakes.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import { isRunning, type Job, type RunningJob } from '../../src/core/job/job.ts';
import type { Moment } from '../../src/core/lifecycle/clock.ts';
import { refuseDependents } from '../../src/core/lifecycle/dependencies.ts';
import * as life from '../../src/core/lifecycle/lifecycle.ts';
import { fits, readResources, without } from '../../src/core/limits/resources.ts';
import type {
  AddOutcome,
  AddResult,
  Cancel,
  CancelResult,
  ClaimRequest,
  ClaimResult,
  Heartbeat,
  HeartbeatResult,
  JobChanges,
  Move,
  NewJob,
  Requeue,
  Settlement,
  SettleResult,
  Target,
  TargetResult,
} from '../../src/core/ports/job-store.ts';
import { type RefusalCode, type Refused, refuse, refuseState } from '../../src/core/ports/refusal.ts';
import type { Model } from './model.ts';
import { coalesce, equalJobs } from './model-coalescing.ts';
import {
  changeOf,
  childrenOf,
  descendants,
  findParents,
  hasEnded,
  markFreed,
  notify,
  removeEdge,
  waitFor,
} from './model-family.ts';
import { withEvent } from './model-steps.ts';
import { addProgressJobs, closeSequence } from './model-webhooks.ts';

const refuseJob = (code: RefusalCode, id: string, holder?: string): Refused => refuse(code, `job ${id}`, holder);
const refusalOfQueue = (model: Model, queue: string): Refused | undefined => {
  const { state } = model.settings(queue);
  return state === 'down' || state === 'deleted' ? refuse(`queue-${state}`, `queue ${queue}`) : undefined;
};

export function add(model: Model, input: NewJob, { now }: Moment): AddResult {
  const answer = (outcome: AddOutcome, job: Job): AddResult => {
    return { ok: true, outcome, id: job.id, queue: job.queue, state: job.state };
  };
  const known = model.get(input.id);
  if (known !== undefined) return answer('exists', known);
  const settings = model.settings(input.queue);
  const refused = refusalOfQueue(model, input.queue);
  if (refused !== undefined) return refused;
  const wanted = { id: input.id, unique: input.unique ?? null };
  const holder = input.draft === true ? undefined : model.otherHolder(wanted, input.queue, now);
  if (holder !== undefined) {
    const change = life.replacedBy(holder, input, now);
    if (change === undefined) return answer('duplicate', holder);
    const wasBlocked = model.isBlocked(holder);
    model.become(change, now);
    markFreed(model, holder.id, wasBlocked, now);
    return answer('replaced', change.job);
  }
  const parents = input.dependsOn === undefined ? [] : findParents(model, input, input.dependsOn);
  if ('ok' in parents) return parents;
  const added = life.created(input, { now, seq: model.nextSeq(), settings });
  model.become(added, now);
  if (added.job.state === 'waiting') model.takeKey(added.job, now);
  // The stored record, with its turn.
  waitFor(model, model.get(input.id) as Job, parents, now);
  return answer('added', model.get(input.id) as Job);
}

export function commit(model: Model, id: string, { now }: Moment): TargetResult {
  const job = model.get(id);
  if (job === undefined) return refuseJob('not-found', id);
  if (job.state !== 'draft') return { ok: true, state: job.state };
  const holder = model.otherHolder(job, job.queue, now);
  if (holder !== undefined) return refuseJob('key-taken', id, holder.id);
  const change = life.committed(job, now);
  const wasBlocked = model.isBlocked(job);
  model.become(change, now);
  markFreed(model, job.id, wasBlocked, now);
  model.takeKey(change.job, now);
  return { ok: true, state: 'waiting' };
}

export function rememberedClaim(
  model: Model,
  { worker, requestId }: ClaimRequest,
): Model['claims'][number] | undefined {
  return model.claims.find((each) => each.worker === worker && each.requestId === requestId);
}

export function claim(model: Model, request: ClaimRequest, moment: Moment): ClaimResult {
  const { worker, requestId, queues } = request;
  const last = rememberedClaim(model, request);
  const jobs =
    last === undefined ? take(model, request, moment) : last.leases.flatMap((lease) => stillHeld(model, lease));
  if (last === undefined && jobs.length > 0) {
    const leases = jobs.map((job) => ({ id: job.id, token: job.lease.token }));
    const own = model.claims.filter((each) => each.worker === worker);
    const others = model.claims.filter((each) => each.worker !== worker);
    model.claims = [...others, ...own.slice(-1), { worker, requestId, leases }];
  }
  const times = queues.flatMap((queue) => nextTimes(model, queue, moment.now));
  return { jobs, now: moment.now, nextAt: times.length === 0 ? null : Math.min(...times) };
}

function stillHeld(model: Model, { id, token }: { id: string; token: number }): readonly RunningJob[] {
  const job = model.get(id);
  return life.holds(job, token) ? [job] : [];
}

function take(model: Model, request: ClaimRequest, moment: Moment): readonly RunningJob[] {
  const { worker, queues, limit, leaseMs, offers } = request;
  const taken: RunningJob[] = [];
  for (const queue of queues) {
    const settings = model.settings(queue);
    if (taken.length >= limit || settings.state !== 'up') continue;
    expireLeases(model, queue, 1_000, moment);
    for (const job of model.ready(queue, moment.now)) {
      const used = taken.reduce(
        (room, each) => without(room, model.limits.needs(each)),
        readResources(offers?.free ?? ''),
      );
      const isServed = model.limits.roomIn(queue, moment.now) > 0 && model.limits.hasRoom(job);
      const hasRoom = isServed && fits(model.limits.needs(job), used);
      const isLeft = !model.isBlocked(model.get(job.id) as Job);
      if (taken.length >= limit || !hasRoom || !isLeft || model.limits.waitsForBucket(job, moment.now)) continue;
      const token = model.nextToken(job.id);
      const lease = { now: moment.now, token, worker, leaseMs: leaseMs ?? settings.leaseMs };
      const equals = equalJobs(model, job, moment.now);
      const change = life.claimed(job, { ...lease, slots: model.limits.slots(job), folded: equals.length });
      model.become(change, moment.now);
      coalesce(model, equals, model.get(job.id) as RunningJob, moment.now);
      model.limits.started(job, moment.now);
      taken.push(model.get(job.id) as RunningJob);
    }
  }
  return taken;
}

export function expireLeases(model: Model, queue: string, limit: number, moment: Moment): number {
  const settings = model.settings(queue);
  const over = model.running().filter((job) => job.queue === queue && life.isExpired(job, settings, moment));
  const lost = over.slice(0, limit);
  for (const job of lost)
    applyAndNotify(model, life.lost(job, settings, moment.now, 'its lease was not renewed'), moment.now);
  return lost.length;
}

/** Applies a transition and notifies the jobs that wait for the job. */
export function applyAndNotify(model: Model, change: life.Transition, now: number): void {
  const followers = model.become(change, now);
  notify(model, [...changeOf(change.job), ...followers], now);
}

function nextTimes(model: Model, queue: string, now: number): readonly number[] {
  const { state, onLost, lostGraceMs } = model.settings(queue);
  if (state !== 'up') return [];
  const later = model.in(queue, 'waiting').filter((job) => job.runAt > now && !model.isBlocked(job));
  const ends = model.running().filter((job) => job.queue === queue && onLost !== 'hold');
  const times = [...later.map((job) => job.runAt), ...ends.map((job) => job.lease.until + lostGraceMs)];
  return [...times, ...model.limits.nextStart(queue, now)];
}

/**
 * Returns the first time at which a bucket of a throttle opens for a job that only the bucket holds back, or null. A
 * claim may name an earlier time: a store does not know whether a job that was parked before is still held back.
 */
export function nextOpening(model: Model, { queues }: ClaimRequest, now: number): number | null {
  const times = queues.flatMap((queue) => {
    if (model.settings(queue).state !== 'up' || model.limits.roomIn(queue, now) <= 0) return [];
    const free = model.ready(queue, now).filter((job) => model.limits.needs(job) === '' && model.limits.hasRoom(job));
    return free.flatMap((job) => model.limits.opensAt(job, now) ?? []);
  });
  return times.length === 0 ? null : Math.min(...times);
}

export function heartbeat(model: Model, beat: Heartbeat, { now }: Moment): HeartbeatResult {
  const job = model.get(beat.id);
  if (job === undefined) return refuseJob('not-found', beat.id);
  if (!life.holds(job, beat.token)) return refuseJob('lease-lost', beat.id);
  const next = life.renewed(job, beat, now);
  model.keep(next);
  const { id, queue, state, lease } = next;
  if (beat.progress !== undefined || beat.started !== undefined) {
    model.events.push({ type: 'progress', id, queue, state });
  }
  if (beat.progress !== undefined) addProgressJobs(model, job, next, now);
  const { until, cancelAskedAt, pauseAskedAt } = lease;
  return { ok: true, until, cancelAsked: cancelAskedAt !== null, pauseAsked: pauseAskedAt !== null };
}

export function settle(model: Model, settlement: Settlement, { now }: Moment): SettleResult {
  const job = model.get(settlement.id);
  if (job === undefined) return refuseJob('not-found', settlement.id);
  if (life.holds(job, settlement.token)) {
    const change = life.settled(job, withEvent(model, settlement, now), model.settings(job.queue), now);
    const ids = parentsAfter(model, settlement, change);
    const parents = ids === undefined ? [] : findParents(model, { id: job.id, known: job }, ids);
    if ('ok' in parents) return parents;
    if (settlement.kind === 'retry' && settlement.throttle !== undefined)
      model.limits.pause(job, { name: settlement.throttle, ms: settlement.delayMs }, now);
    applyAndNotify(model, change, now);
    waitFor(model, change.job, parents, now);
    return { ok: true, state: model.get(job.id)?.state as Job['state'] };
  }
  const rows = model.rows(job.id);
  const endRow = rows.filter((row) => row.token === settlement.token && endsAttempt(row)).at(-1);
  if (endRow !== undefined && life.isSameSettlement(endRow, settlement.kind)) return { ok: true, state: endRow.state };
  const late = life.lateRow(job, settlement, now);
  const known = rows.filter(({ event }) => event === 'late');
  const isKnown = known.some(({ token, note }) => token === late.token && note === late.note);
  if (known.length < 3 && !isKnown) model.appendRow(job.id, late);
  return refuseJob('lease-lost', job.id);
}

/** The jobs that a settled job waits for. */
function parentsAfter(model: Model, settlement: Settlement, { row }: life.Transition): readonly string[] | undefined {
  if (row.event === 'advanced' && settlement.kind === 'complete') return settlement.next?.dependsOn;
  if (row.event !== 'suspended' || settlement.kind !== 'suspend') return undefined;
  return settlement.children?.filter((id) => model.get(id) !== undefined);
}

function endsAttempt({ event }: HistoryRow): boolean {
  return event !== 'claimed' && event !== 'resumed' && event !== 'late' && event !== 'cancel-asked';
}

/** Returns the addressed job, or a refusal. */
function target(model: Model, { id, attempt }: Target): Job | Refused {
  const job = model.get(id);
  if (job === undefined) return refuseJob('not-found', id);
  return attempt === undefined || attempt === job.attempt ? job : refuseJob('moved-on', id);
}

const isRefusal = (answer: Job | Refused): answer is Refused => 'ok' in answer;

export function cancel(model: Model, request: Cancel, moment: Moment): CancelResult {
  const job = target(model, request);
  if (isRefusal(job)) return job;
  if (job.state === 'cancelled') return { ok: true, outcome: 'cancelled' };
  const settings = model.settings(job.queue);
  const isAbandoned = life.isHeld(job, settings, moment.now) || life.isExpired(job, settings, moment);
  if (isRunning(job) && job.lease.cancelAskedAt !== null && !isAbandoned) return { ok: true, outcome: 'asked' };
  const change = life.cancelled(job, { now: moment.now, isAbandoned });
  if (typeof change === 'string') return refuseState(job, 'cancel');
  const waiting = childrenOf(model, job.seq).filter((child) => !hasEnded(child)).length;
  if (waiting > 0 && request.dependents === undefined) return refuseDependents(job.id, waiting);
  const children = request.dependents === 'cancel' ? descendants(model, job, (child) => !hasEnded(child)) : [];
  const ends = children.map(
    (child) => life.cancelled(child, { now: moment.now, isAbandoned: true }) as life.Transition,
  );
  for (const end of [change, ...ends]) {
    model.become(end, moment.now);
    if (end.job.state === 'cancelled') closeSequence(model, end.job, moment.now);
  }
  notify(
    model,
    [change, ...ends].flatMap((end) => changeOf(end.job)),
    moment.now,
  );
  return { ok: true, outcome: change.job.state === 'cancelled' ? 'cancelled' : 'asked' };
}

export function requeue(model: Model, request: Requeue, { now }: Moment): TargetResult {
  const job = target(model, request);
  if (isRefusal(job)) return job;
  const queue = request.queue ?? job.queue;
  if (job.state === 'waiting' && job.queue === queue && request.steal !== true) return { ok: true, state: 'waiting' };
  const change = life.requeued(job, request, { now, isHeld: life.isHeld(job, model.settings(job.queue), now) });
  if (typeof change === 'string') return refuseState(job, 'requeue');
  const refused = job.queue === queue ? undefined : refusalOfQueue(model, queue);
  if (refused !== undefined) return refused;
  const holder = model.otherHolder(job, queue, now);
  if (holder !== undefined) return refuseJob('key-taken', job.id, holder.id);
  model.become(change, now);
  model.takeKey(change.job, now);
  return { ok: true, state: 'waiting' };
}

export function move(model: Model, request: Move, { now }: Moment): TargetResult {
  const job = target(model, request);
  if (isRefusal(job)) return job;
  if (job.state !== 'running' && job.queue === request.queue) return { ok: true, state: job.state };
  const change = life.moved(job, request, now);
  if (typeof change === 'string') return refuseState(job, 'move');
  const refused = job.queue === request.queue ? undefined : refusalOfQueue(model, request.queue);
  if (refused !== undefined) return refused;
  const holder = model.holdsKey(job, now) ? model.otherHolder(job, request.queue, now) : undefined;
  if (holder !== undefined) return refuseJob('key-taken', job.id, holder.id);
  const wasBlocked = model.isBlocked(job);
  model.become(change, now);
  markFreed(model, job.id, wasBlocked, now);
  return { ok: true, state: change.job.state };
}

export function change(model: Model, request: JobChanges, { now }: Moment): TargetResult {
  const job = target(model, request);
  if (isRefusal(job)) return job;
  const next = life.changed(job, request, now);
  if (typeof next === 'string') return refuseState(job, 'change');
  const wasBlocked = model.isBlocked(job);
  const { add: more = [], remove: fewer = [] } = request.dependsOn ?? {};
  const parents = findParents(model, { id: job.id, known: job }, more);
  if ('ok' in parents) return parents;
  for (const id of fewer.filter((each) => !more.includes(each))) {
    const parent = model.get(id);
    if (parent !== undefined) removeEdge(model, job, parent);
  }
  link(model, next, parents, now);
  markFreed(model, job.id, wasBlocked, now);
  return { ok: true, state: model.get(job.id)?.state as Job['state'] };
}

/** Emits the change before the effects of its new parents. */
function link(model: Model, next: life.Transition, parents: readonly Job[], now: number): void {
  model.become(next, now);
  waitFor(model, next.job, parents, now);
}

export function remove(model: Model, id: string, { now }: Moment): TargetResult {
  const job = model.get(id);
  if (job === undefined) return refuseJob('not-found', id);
  if (job.state === 'running') return refuseState(job, 'delete');
  forget(model, job, now);
  return { ok: true, state: job.state };
}

export function forget(model: Model, job: Job, now: number): void {
  if (!hasEnded(job)) closeSequence(model, job, now);
  model.forget(job);
  notify(model, [{ id: job.id, seq: job.seq, how: 'was deleted' }], now);
}
