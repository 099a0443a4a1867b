/**
 * Claims jobs: expired leases first return to the front of their queue, then jobs are taken in claim order.
 *
 * A claim repeated with the request id of one of the worker's last two claims returns the leases that it was given and
 * still holds: its first answer may never have arrived.
 */

import type { Job } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { claimed, holds, isExpired } from '../lifecycle/lifecycle.ts';
import { rateAfter, rateNextAt, rateRoom } from '../limits/rate.ts';
import { fits, needAddress, needsOf, needsText, readResources, without } from '../limits/resources.ts';
import { throttlesOf } from '../limits/throttle.ts';
import type { ClaimRequest, ClaimResult } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import type { Pattern } from './alike.ts';
import { applyLike, isAlike, patternOf } from './alike.ts';
import { apply } from './apply.ts';
import { coalesceAll, equalJobs } from './coalescing.ts';
import { bucketsOf, closedAmong, parkUnderBucket, takeCost, unparkOpen } from './limits/buckets.ts';
import { endLostAttempts } from './lost-leases.ts';
import { isReserved, unparkFitting } from './resources.ts';
import { fullAmong, unparkBehind } from './throttles.ts';

/** How many expired leases one claim returns at most; the next claim continues. */
export const MAX_EXPIRED = 1_000;
/** How many jobs one claim parks under throttles; after that it reports that there is more to do at once. */
export const MAX_PARKED = 500;

export function claim(table: Table, request: ClaimRequest, moment: Moment): ClaimResult {
  const repeated = repeatedClaim(table, request);
  const { jobs, isCutShort } =
    repeated === undefined ? take(table, request, moment) : { jobs: repeated, isCutShort: false };
  if (repeated === undefined && jobs.length > 0) rememberClaim(table, request, jobs);
  // Jobs that were not rebased since the clock went back may be due.
  const isUnsure = isCutShort || (table.clockStep() !== null && table.closed() === null);
  const next = isUnsure ? moment.now + 1 : nextAt(table, openQueues(table, request), moment.now);
  return { jobs, now: moment.now, nextAt: next };
}

function repeatedClaim(table: Table, { worker, requestId }: ClaimRequest): readonly Job[] | undefined {
  return table.leasesOfClaim(worker, requestId)?.flatMap(({ id, token }) => {
    const job = table.get(id);
    return holds(job, token) ? [job] : [];
  });
}

interface Taken {
  readonly jobs: readonly Job[];
  /** The claim parked as many jobs as it may: there may be more to take behind them. */
  readonly isCutShort: boolean;
}

/** A store under migration starts no job. */
function openQueues(table: Table, { queues }: ClaimRequest): readonly string[] {
  return table.closed() === null ? queues : [];
}

function take(table: Table, request: ClaimRequest, moment: Moment): Taken {
  const jobs: Job[] = [];
  let isCutShort = false;
  for (const queue of openQueues(table, request)) {
    if (jobs.length >= request.limit) break;
    const rest = { ...request, ...remainingCapacity(table, request, jobs), limit: request.limit - jobs.length };
    const taken = takeFrom(table, queue, rest, moment);
    jobs.push(...taken.jobs);
    isCutShort ||= taken.isCutShort;
  }
  return { jobs, isCutShort };
}

/** Returns the worker's free capacity after the jobs that this claim already took. */
function remainingCapacity(table: Table, { offers }: ClaimRequest, jobs: readonly Job[]): Pick<ClaimRequest, 'offers'> {
  if (offers === undefined || jobs.length === 0) return {};
  const needs = jobs.map((job) => needsOf(job, table.settings(job.queue)));
  return { offers: { ...offers, free: needsText(needs.reduce(without, readResources(offers.free))) } };
}

function takeFrom(table: Table, queue: string, request: ClaimRequest, moment: Moment): Taken {
  const settings = table.settings(queue);
  if (settings.state !== 'up') return { jobs: [], isCutShort: false };
  expireLeases(table, queue, MAX_EXPIRED, moment);
  const { now } = moment;
  const most = isReserved(table, queue, request, now) ? 0 : request.limit;
  const limit = Math.min(most, roomIn(table, queue, now));
  const taken = serve(table, queue, { ...request, limit }, now);
  const started = taken.jobs.length;
  if (settings.keys !== null && started > 0)
    table.serveTurn(queue, Math.max(...taken.jobs.map(({ turn }) => turn), table.turnServed(queue)));
  if (settings.rate !== null && started > 0)
    table.setRateAt(queue, rateAfter(settings.rate, table.rateAt(queue), { now, cost: started }));
  return taken;
}

/** Returns how many jobs the queue's own limits let start now. */
function roomIn(table: Table, queue: string, now: number): number {
  const { maxRunning, rate } = table.settings(queue);
  const freeSlots = maxRunning === null ? Number.MAX_SAFE_INTEGER : maxRunning - table.running(queue);
  return rate === null ? freeSlots : Math.min(freeSlots, rateRoom(rate, table.rateAt(queue), now));
}

/**
 * Takes jobs in claim order. A job whose throttle is full is parked under it; parked jobs may come back meanwhile.
 * Equal jobs are coalesced into a job that starts. A job that is alike to one that started starts like it.
 */
function serve(table: Table, queue: string, request: ClaimRequest, now: number): Taken {
  const jobs: Job[] = [];
  let parked = 0;
  let room = readResources(request.offers?.free ?? '');
  let pattern: Pattern | null = null;
  if (request.limit > 0) unparkFitting(table, queue, room, now);
  if (request.limit > 0) unparkOpen(table, queue, request.limit, now);
  for (let isOver = request.limit <= 0; !isOver; ) {
    const ready = table.ready(queue, now, { limit: request.limit - jobs.length, offset: 0, forClaim: true });
    let isChanged = false;
    for (let at = 0; at < ready.length; at += 1) {
      if (pattern !== null) at = startAlike(table, pattern, { ready, from: at, jobs, request, now });
      const job = ready[at];
      if (job === undefined) break;
      const slots = throttlesOf(job, table.settings(queue));
      const full = slots.length === 0 ? undefined : fullAmong(table, slots);
      const needs = needsOf(job, table.settings(queue));
      const isFitting = full === undefined && fits(needs, room);
      const buckets = isFitting ? bucketsOf(table, job, slots) : [];
      const closed = closedAmong(table, buckets, now);
      if (isFitting && closed === undefined) {
        takeCost(table, buckets, now);
        const change = start(table, job, { request, slots, now });
        const started = change.job;
        jobs.push(started);
        pattern = patternOf(table, job, change);
        room = without(room, needs);
        // A job that fits may have been coalesced into this one.
        const isOneBack = (needs !== '' || started.folded > 0) && unparkFitting(table, queue, room, now);
        if (started.folded > 0) unparkOpen(table, queue, request.limit, now);
        const isAnother = isOneBack || started.folded > 0;
        isChanged ||= isAnother;
        if (isAnother) break;
        continue;
      }
      if (closed !== undefined) parkUnderBucket(table, job, closed, now);
      else table.park(job, full?.address ?? needAddress(queue, needs));
      parked += 1;
      isChanged = true;
      // A job behind it may be parked under a bucket of its that is open.
      const isOther = closed === undefined || slots.length > 1 || needs !== '';
      const isOpen = slots.length > 0 && isOther && unparkOpen(table, queue, 1, now);
      const isLimited = full !== undefined || closed !== undefined;
      const hasLeftRoom = isLimited && needs !== '' && unparkFitting(table, queue, room, now);
      if (unparkBehind(table, job) || isOpen || hasLeftRoom) break;
    }
    isOver = !isChanged || jobs.length >= request.limit || parked >= MAX_PARKED;
  }
  const hasMore = parked >= MAX_PARKED || table.wakes(queue, now, 1).length > 0;
  return { jobs, isCutShort: hasMore && jobs.length < request.limit };
}

function start(
  table: Table,
  job: Job,
  { request, slots, now }: { request: ClaimRequest; slots: readonly string[]; now: number },
): Transition {
  const { worker, leaseMs = table.settings(job.queue).leaseMs } = request;
  const equals = equalJobs(table, job, now);
  const change = claimed(job, { now, token: table.takeToken(), worker, leaseMs, slots, folded: equals.length });
  apply(table, job, change, now);
  coalesceAll(table, equals, change.job, now);
  return change;
}

interface ReadyJobs {
  readonly ready: readonly Job[];
  readonly from: number;
  /** Those that started are added here. */
  readonly jobs: Job[];
  readonly request: ClaimRequest;
  readonly now: number;
}

/** Starts the jobs from a place on that are alike to one that started. Returns the place of the first that is not. */
function startAlike(table: Table, pattern: Pattern, { ready, from, jobs, request, now }: ReadyJobs): number {
  for (let at = from; at < ready.length; at += 1) {
    const job = ready[at] as Job;
    if (!isAlike(pattern.before, job)) return at;
    jobs.push(startLike(table, pattern, job, { request, now }));
  }
  return ready.length;
}

function startLike(
  table: Table,
  pattern: Pattern,
  job: Job,
  { request, now }: { request: ClaimRequest; now: number },
): Job {
  const { worker, leaseMs = table.settings(job.queue).leaseMs } = request;
  const change = claimed(job, { now, token: table.takeToken(), worker, leaseMs });
  applyLike(table, pattern, job, change);
  return change.job;
}

/** Ends the attempts of a queue whose lease was not renewed. Returns how many. */
export function expireLeases(table: Table, queue: string, limit: number, moment: Moment): number {
  const settings = table.settings(queue);
  if (settings.onLost === 'hold') return 0;
  const expired = table.leasesUntil(queue, moment.now, limit).filter((job) => isExpired(job, settings, moment));
  endLostAttempts(table, expired, 'its lease was not renewed', moment.now);
  return expired.length;
}

function rememberClaim(table: Table, { worker, requestId }: ClaimRequest, jobs: readonly Job[]): void {
  const leases = jobs.map(({ id, lease }) => ({ id, token: lease?.token ?? 0 }));
  table.rememberClaim(worker, { requestId, leases }, jobs[0]?.lease?.claimedAt ?? 0);
}

function nextAt(table: Table, queues: readonly string[], now: number): number | null {
  let next = Number.POSITIVE_INFINITY;
  for (const queue of queues) {
    const settings = table.settings(queue);
    if (settings.state !== 'up') continue;
    const leaseEnd = settings.onLost === 'hold' ? null : table.nextLeaseEnd(queue);
    const startAt = settings.rate === null ? null : rateNextAt(settings.rate, table.rateAt(queue), { now, cost: 1 });
    const expiryAt = leaseEnd === null ? null : leaseEnd + settings.lostGraceMs;
    const times = [table.nextRunAt(queue, now), expiryAt, startAt, table.nextWake(queue, now)];
    for (const time of times) if (time !== null && time < next) next = time;
  }
  return next === Number.POSITIVE_INFINITY ? null : next;
}
