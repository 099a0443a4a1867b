/** Heartbeats and settlements of attempts, each accepted only under the token of the lease. */

import { canKeepLate, endRowOf } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { ruleOf } from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { holds, isSameSettlement, lateRow, renewed, settled } from '../lifecycle/lifecycle.ts';
import type { Heartbeat, HeartbeatResult, Settlement, SettleResult } from '../ports/job-store.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import type { Pattern } from './alike.ts';
import { applyLike, isAlike, isSameChange, patternOf } from './alike.ts';
import { eventOf, isRefusal } from './apply.ts';
import { applyWithDependents, findParents, waitFor, withParents } from './dependents.ts';
import { pauseThrottle } from './limits/buckets.ts';
import { addProgressWebhooks } from './outbox.ts';
import { withArrivedEvent } from './steps/keep-steps.ts';

export function heartbeat(table: Table, beats: readonly Heartbeat[], { now }: Moment): readonly HeartbeatResult[] {
  return beats.map((beat) => renewOne(table, beat, now));
}

function renewOne(table: Table, beat: Heartbeat, now: number): HeartbeatResult {
  const job = table.get(beat.id);
  if (job === undefined) return refuse('not-found', `job ${beat.id}`);
  if (!holds(job, beat.token)) return refuse('lease-lost', `job ${beat.id}`);
  const next = renewed(job, beat, now);
  table.replace(job, next, null);
  if (beat.progress !== undefined || beat.started !== undefined) table.emit(eventOf(next, 'progress'));
  if (beat.progress !== undefined) addProgressWebhooks(table, job, next, now);
  const { until, cancelAskedAt, pauseAskedAt } = next.lease;
  return { ok: true, until, cancelAsked: cancelAskedAt !== null, pauseAsked: pauseAskedAt !== null };
}

export function settle(table: Table, settlements: readonly Settlement[], { now }: Moment): readonly SettleResult[] {
  const call: SettleCall = { now, pattern: null };
  return settlements.map((settlement) => settleOne(table, settlement, call));
}

interface SettleCall {
  readonly now: number;
  /** The last plain settlement, if others with the same outcome may be applied like it. */
  pattern: Pattern | null;
}

function settleOne(table: Table, settlement: Settlement, call: SettleCall): SettleResult {
  const { now, pattern } = call;
  const job = table.get(settlement.id);
  if (job === undefined) return refuse('not-found', `job ${settlement.id}`);
  if (!holds(job, settlement.token)) return answerLate(table, settlement, now);
  const change = settled(job, withArrivedEvent(table, job, settlement, now), table.settings(job.queue), now);
  const isPlain = isPlainSettlement(settlement);
  if (isPlain && pattern !== null && isAlike(pattern.before, job) && isSameChange(pattern, job, change)) {
    applyLike(table, pattern, job, change);
    return { ok: true, state: change.job.state };
  }
  if (settlement.kind === 'retry' && settlement.throttle !== undefined)
    pauseThrottle(table, job, { name: settlement.throttle, ms: settlement.delayMs, now });
  const ids = parentsAfter(table, settlement, change);
  if (ids !== undefined) return settleWithParents(table, job, change, { ids, now });
  applyWithDependents(table, job, change, now);
  call.pattern = isPlain ? patternOf(table, job, change) : null;
  return { ok: true, state: change.job.state };
}

/** Whether a settlement changes no data, queue or throttle. */
function isPlainSettlement(settlement: Settlement): boolean {
  if (settlement.kind === 'complete') return settlement.next === undefined && settlement.data === undefined;
  return settlement.kind === 'fail' || (settlement.kind === 'retry' && settlement.throttle === undefined);
}

/** Returns the ids of the jobs that the job waits for after the settlement, if it names any. */
function parentsAfter(table: Table, settlement: Settlement, { row }: Transition): readonly string[] | undefined {
  if (settlement.kind === 'complete' && row.event === 'advanced') return settlement.next?.dependsOn;
  if (settlement.kind !== 'suspend' || row.event !== 'suspended') return undefined;
  return settlement.children?.filter((id) => table.get(id) !== undefined);
}

/** Settles the attempt of a job that then waits for other jobs. */
function settleWithParents(
  table: Table,
  job: Job,
  { job: there, row }: Transition,
  to: { ids: readonly string[]; now: number },
): SettleResult {
  const found = findParents(table, { id: job.id, known: job }, to.ids);
  if (isRefusal(found)) return found;
  const { parents, taken } = withParents(table, there, found, ruleOf(there, table.settings(there.queue)));
  const next = { ...there, parents };
  applyWithDependents(table, job, { job: next, row }, to.now);
  waitFor(table, next, taken, to.now);
  return { ok: true, state: table.get(job.id)?.state ?? next.state };
}

/**
 * Answers a settlement without a lease. A repeat gets the first answer. A stale one is refused, and its content is
 * kept.
 */
function answerLate(table: Table, settlement: Settlement, now: number): SettleResult {
  const job = table.get(settlement.id);
  const rows = table.rows(settlement.id);
  const ending = endRowOf(rows, settlement.token);
  if (ending !== undefined && isSameSettlement(ending, settlement.kind)) return { ok: true, state: ending.state };
  if (job !== undefined) {
    const late = lateRow(job, settlement, now);
    if (canKeepLate(rows, late)) table.append(job, late);
  }
  return refuse('lease-lost', `job ${settlement.id}`);
}
