/**
 * The mutating calls of the port, on the model. Each is what its documentation says, in the plainest words.
 *
 * Must never import from core/operations: it exists to disagree with it.
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
import { type RefusalCode, type Refused, refuse } from '../../src/core/ports/refusal.ts';
import type { Model } from './model.ts';
import { equalsOf, fold } from './model-coalescing.ts';
import { below, childrenOf, comeFree, findParents, isOver, newsOf, part, tell, waitFor } from './model-family.ts';
import { closeLine, tellProgress } from './model-webhooks.ts';

const no = (code: RefusalCode, id: string, holder?: string): Refused => refuse(code, `job ${id}`, holder);
const shutBy = (model: Model, queue: string): Refused | undefined => {
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
  const shut = shutBy(model, input.queue);
  if (shut !== undefined) return shut;
  const wanted = { id: input.id, unique: input.unique ?? null };
  const rival = input.draft === true ? undefined : model.rivalOf(wanted, input.queue, now);
  if (rival !== undefined) {
    const change = life.replacedBy(rival, input, now);
    if (change === undefined) return answer('duplicate', rival);
    const wasBlocked = model.isBlocked(rival);
    model.become(change, now);
    comeFree(model, rival.id, wasBlocked, now);
    return answer('replaced', change.job);
  }
  const parents = input.dependsOn === undefined ? [] : findParents(model, input, input.dependsOn);
  if ('ok' in parents) return parents;
  const born = life.born(input, { now, seq: model.nextSeq(), settings });
  model.become(born, now);
  if (born.job.state === 'waiting') model.takeKey(born.job, now);
  // As it is kept, with its turn.
  waitFor(model, model.get(input.id) as Job, parents, now);
  return answer('added', model.get(input.id) as Job);
}

export function commit(model: Model, id: string, { now }: Moment): TargetResult {
  const job = model.get(id);
  if (job === undefined) return no('not-found', id);
  if (job.state !== 'draft') return { ok: true, state: job.state };
  const rival = model.rivalOf(job, job.queue, now);
  if (rival !== undefined) return no('key-taken', id, rival.id);
  const change = life.committed(job, now);
  const wasBlocked = model.isBlocked(job);
  model.become(change, now);
  comeFree(model, job.id, wasBlocked, now);
  model.takeKey(change.job, now);
  return { ok: true, state: 'waiting' };
}

export function claim(model: Model, request: ClaimRequest, moment: Moment): ClaimResult {
  const { worker, requestId, queues } = request;
  const last = model.claims.find((each) => each.worker === worker && each.requestId === requestId);
  const jobs = last === undefined ? take(model, request, moment) : last.leases.flatMap((lease) => heldBy(model, lease));
  if (last === undefined && jobs.length > 0) {
    const leases = jobs.map((job) => ({ id: job.id, token: job.lease.token }));
    model.claims = [...model.claims.filter((each) => each.worker !== worker), { worker, requestId, leases }];
  }
  const times = queues.flatMap((queue) => nextTimes(model, queue, moment.now));
  return { jobs, now: moment.now, nextAt: times.length === 0 ? null : Math.min(...times) };
}

function heldBy(model: Model, { id, token }: { id: string; token: number }): readonly RunningJob[] {
  const job = model.get(id);
  return life.holds(job, token) ? [job] : [];
}

function take(model: Model, request: ClaimRequest, moment: Moment): readonly RunningJob[] {
  const { worker, queues, limit, leaseMs, offers } = request;
  const taken: RunningJob[] = [];
  for (const queue of queues) {
    const settings = model.settings(queue);
    if (taken.length >= limit || settings.state !== 'up') continue;
    overtake(model, queue, 1_000, moment);
    for (const job of model.ready(queue, moment.now)) {
      const used = taken.reduce(
        (room, each) => without(room, model.limits.needs(each)),
        readResources(offers?.free ?? ''),
      );
      const isServed = model.limits.roomIn(queue, moment.now) > 0 && model.limits.hasRoom(job);
      const hasRoom = isServed && fits(model.limits.needs(job), used);
      const isLeft = !model.isBlocked(model.get(job.id) as Job);
      if (taken.length >= limit || !hasRoom || !isLeft) continue;
      const token = model.nextToken(job.id);
      const lease = { now: moment.now, token, worker, leaseMs: leaseMs ?? settings.leaseMs };
      const equals = equalsOf(model, job, moment.now);
      const change = life.claimed(job, { ...lease, slots: model.limits.slots(job), folded: equals.length });
      model.become(change, moment.now);
      fold(model, equals, model.get(job.id) as RunningJob, moment.now);
      model.limits.started(job, moment.now);
      taken.push(model.get(job.id) as RunningJob);
    }
  }
  return taken;
}

export function overtake(model: Model, queue: string, limit: number, moment: Moment): number {
  const settings = model.settings(queue);
  const over = model.running().filter((job) => job.queue === queue && life.isExpired(job, settings, moment));
  const lost = over.slice(0, limit);
  for (const job of lost) turn(model, life.lost(job, settings, moment.now, 'its lease was not renewed'), moment.now);
  return lost.length;
}

/** A job becomes something, and those who wait for it hear of it. */
export function turn(model: Model, change: life.Transition, now: number): void {
  const followers = model.become(change, now);
  tell(model, [...newsOf(change.job), ...followers], now);
}

function nextTimes(model: Model, queue: string, now: number): readonly number[] {
  const { state, onLost, lostGraceMs } = model.settings(queue);
  if (state !== 'up') return [];
  const later = model.in(queue, 'waiting').filter((job) => job.runAt > now && !model.isBlocked(job));
  const ends = model.running().filter((job) => job.queue === queue && onLost !== 'hold');
  const times = [...later.map((job) => job.runAt), ...ends.map((job) => job.lease.until + lostGraceMs)];
  return [...times, ...model.limits.nextStart(queue, now)];
}

export function heartbeat(model: Model, beat: Heartbeat, { now }: Moment): HeartbeatResult {
  const job = model.get(beat.id);
  if (job === undefined) return no('not-found', beat.id);
  if (!life.holds(job, beat.token)) return no('lease-lost', beat.id);
  const next = life.renewed(job, beat, now);
  model.keep(next);
  const { id, queue, state, lease } = next;
  if (beat.progress !== undefined || beat.started !== undefined) {
    model.events.push({ type: 'progress', id, queue, state });
  }
  if (beat.progress !== undefined) tellProgress(model, job, next, now);
  const { until, cancelAskedAt, pauseAskedAt } = lease;
  return { ok: true, until, cancelAsked: cancelAskedAt !== null, pauseAsked: pauseAskedAt !== null };
}

export function settle(model: Model, said: Settlement, { now }: Moment): SettleResult {
  const job = model.get(said.id);
  if (job === undefined) return no('not-found', said.id);
  if (life.holds(job, said.token)) {
    const change = life.settled(job, said, model.settings(job.queue), now);
    const ids = change.row.event === 'advanced' && said.kind === 'complete' ? said.next?.dependsOn : undefined;
    const parents = ids === undefined ? [] : findParents(model, { id: job.id, known: job }, ids);
    if ('ok' in parents) return parents;
    turn(model, change, now);
    waitFor(model, change.job, parents, now);
    return { ok: true, state: model.get(job.id)?.state as Job['state'] };
  }
  const rows = model.rows(job.id);
  const ending = rows.filter((row) => row.token === said.token && isEnding(row)).at(-1);
  if (ending !== undefined && life.isSameSettlement(ending, said.kind)) return { ok: true, state: ending.state };
  const late = life.lateRow(job, said, now);
  const known = rows.filter(({ event }) => event === 'late');
  const isSaid = known.some(({ token, note }) => token === late.token && note === late.note);
  if (known.length < 3 && !isSaid) model.note(job.id, late);
  return no('lease-lost', job.id);
}

function isEnding({ event }: HistoryRow): boolean {
  return event !== 'claimed' && event !== 'late' && event !== 'cancel-asked';
}

/** The job that is meant, or why it cannot be. */
function target(model: Model, { id, attempt }: Target): Job | Refused {
  const job = model.get(id);
  if (job === undefined) return no('not-found', id);
  return attempt === undefined || attempt === job.attempt ? job : no('moved-on', id);
}

const isNo = (answer: Job | Refused): answer is Refused => 'ok' in answer;

export function cancel(model: Model, ask: Cancel, moment: Moment): CancelResult {
  const job = target(model, ask);
  if (isNo(job)) return job;
  if (job.state === 'cancelled') return { ok: true, outcome: 'cancelled' };
  const settings = model.settings(job.queue);
  const isAbandoned = life.isHeld(job, settings, moment.now) || life.isExpired(job, settings, moment);
  if (isRunning(job) && job.lease.cancelAskedAt !== null && !isAbandoned) return { ok: true, outcome: 'asked' };
  const change = life.cancelled(job, { now: moment.now, isAbandoned });
  if (typeof change === 'string') return no(change, job.id);
  const waiting = childrenOf(model, job.seq).filter((child) => !isOver(child)).length;
  if (waiting > 0 && ask.dependents === undefined) return refuseDependents(job.id, waiting);
  const along = ask.dependents === 'cancel' ? below(model, job, (child) => !isOver(child)) : [];
  const ends = along.map((child) => life.cancelled(child, { now: moment.now, isAbandoned: true }) as life.Transition);
  for (const end of [change, ...ends]) {
    model.become(end, moment.now);
    if (end.job.state === 'cancelled') closeLine(model, end.job, moment.now);
  }
  tell(
    model,
    [change, ...ends].flatMap((end) => newsOf(end.job)),
    moment.now,
  );
  return { ok: true, outcome: change.job.state === 'cancelled' ? 'cancelled' : 'asked' };
}

export function requeue(model: Model, ask: Requeue, { now }: Moment): TargetResult {
  const job = target(model, ask);
  if (isNo(job)) return job;
  const queue = ask.queue ?? job.queue;
  if (job.state === 'waiting' && job.queue === queue && ask.steal !== true) return { ok: true, state: 'waiting' };
  const change = life.requeued(job, ask, { now, isHeld: life.isHeld(job, model.settings(job.queue), now) });
  if (typeof change === 'string') return no(change, job.id);
  const shut = job.queue === queue ? undefined : shutBy(model, queue);
  if (shut !== undefined) return shut;
  const rival = model.rivalOf(job, queue, now);
  if (rival !== undefined) return no('key-taken', job.id, rival.id);
  model.become(change, now);
  model.takeKey(change.job, now);
  return { ok: true, state: 'waiting' };
}

export function move(model: Model, ask: Move, { now }: Moment): TargetResult {
  const job = target(model, ask);
  if (isNo(job)) return job;
  if (job.state !== 'running' && job.queue === ask.queue) return { ok: true, state: job.state };
  const change = life.moved(job, ask, now);
  if (typeof change === 'string') return no(change, job.id);
  const shut = job.queue === ask.queue ? undefined : shutBy(model, ask.queue);
  if (shut !== undefined) return shut;
  const rival = model.holdsKey(job, now) ? model.rivalOf(job, ask.queue, now) : undefined;
  if (rival !== undefined) return no('key-taken', job.id, rival.id);
  const wasBlocked = model.isBlocked(job);
  model.become(change, now);
  comeFree(model, job.id, wasBlocked, now);
  return { ok: true, state: change.job.state };
}

export function change(model: Model, ask: JobChanges, { now }: Moment): TargetResult {
  const job = target(model, ask);
  if (isNo(job)) return job;
  const next = life.changed(job, ask, now);
  if (typeof next === 'string') return no(next, job.id);
  const wasBlocked = model.isBlocked(job);
  const { add: more = [], remove: fewer = [] } = ask.dependsOn ?? {};
  const parents = findParents(model, { id: job.id, known: job }, more);
  if ('ok' in parents) return parents;
  for (const id of fewer.filter((each) => !more.includes(each))) {
    const parent = model.get(id);
    if (parent !== undefined) part(model, job, parent);
  }
  link(model, next, parents, now);
  comeFree(model, job.id, wasBlocked, now);
  return { ok: true, state: model.get(job.id)?.state as Job['state'] };
}

/** The change is told before anything that follows from its new parents. */
function link(model: Model, next: life.Transition, parents: readonly Job[], now: number): void {
  model.become(next, now);
  waitFor(model, next.job, parents, now);
}

export function remove(model: Model, id: string, { now }: Moment): TargetResult {
  const job = model.get(id);
  if (job === undefined) return no('not-found', id);
  if (job.state === 'running') return no('wrong-state', id);
  forget(model, job, now);
  return { ok: true, state: job.state };
}

export function forget(model: Model, job: Job, now: number): void {
  if (!isOver(job)) closeLine(model, job, now);
  model.forget(job);
  tell(model, [{ id: job.id, seq: job.seq, how: 'was deleted' }], now);
}
