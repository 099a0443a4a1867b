/**
 * Retention over a table: deletes ended jobs beyond their age, count or bytes, and results earlier than their jobs if
 * the queue sets that; oldest end first, a limited number in each step. Also computes what would be deleted.
 */

import type { EndedState, Job } from '../job/job.ts';
import { ENDED_STATES } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { withoutResult } from '../lifecycle/lifecycle.ts';
import type { Prunable, Surplus } from '../lifecycle/prunable.ts';
import { exceedsKeep, hasSurplus, MAX_PRUNABLE_SCAN, surplusOf } from '../lifecycle/prunable.ts';
import type { InsightQueryOf } from '../ports/insight.ts';
import type { Table } from '../ports/table.ts';
import type { Keep } from '../settings/settings.ts';
import { DRAFT_TTL_MS } from '../settings/settings.ts';
import { keptSince } from '../statistics/statistics.ts';
import { resultBytes, storedBytes } from '../statistics/storage.ts';
import { removeWithKey } from './operate.ts';

export function pruneQueue(table: Table, queue: string, limit: number, now: number): number {
  const { retention } = table.settings(queue);
  let left = limit;
  for (const state of ENDED_STATES)
    left -= removeAll(table, surplus(table, { queue, state, keep: retention[state] }, left, now), now);
  return limit - left;
}

function surplus(
  table: Table,
  what: { queue: string; state: EndedState; keep: Keep },
  limit: number,
  now: number,
): readonly Job[] {
  const { queue, state, keep } = what;
  if (limit <= 0) return [];
  const old = keep.ms === null ? [] : table.endedBefore(queue, state, now - keep.ms, limit);
  if (old.length > 0) return old;
  const beyond = keep.count === null ? [] : table.endedBeyond(queue, state, keep.count, limit);
  if (beyond.length > 0 || keep.bytes === null) return beyond;
  const excess = table.storage(queue)[state].bytes - keep.bytes;
  return excess <= 0 ? [] : upToBytes(table.oldestEnded(queue, state, { from: 0, limit }), excess);
}

/** Returns the first jobs that make up these bytes. */
function upToBytes(jobs: readonly Job[], bytes: number): readonly Job[] {
  let left = bytes;
  const end = jobs.findIndex((job) => {
    left -= storedBytes(job);
    return left <= 0;
  });
  return end === -1 ? jobs : jobs.slice(0, end + 1);
}

/**
 * Deletes jobs. Reads each one again: a job that waited for a deleted one has failed with it, and is kept as failed.
 */
export function removeAll(table: Table, jobs: readonly Job[], now: number): number {
  const hasFamily = jobs.some(({ dependents }) => dependents > 0);
  const present = (job: Job): Job => (hasFamily ? (table.get(job.id) ?? job) : job);
  let removed = 0;
  for (const listed of jobs) {
    const job = present(listed);
    if (job.state !== listed.state) continue;
    removeWithKey(table, job, now);
    removed += 1;
  }
  return removed;
}

/** Removes results from done jobs that are kept longer. Passed jobs are not read again: see `resultsFrom`. */
export function pruneResults(table: Table, queue: string, limit: number, now: number): number {
  const keep = table.settings(queue).retention.results;
  if (limit <= 0 || (keep.ms === null && keep.count === null && keep.bytes === null)) return 0;
  let { count, bytes } = table.storage(queue).results;
  if (count === 0) return 0;
  const from = table.resultsFrom(queue);
  // After a step back of the clock there may be results before `from`: all are read again.
  const jobs = table.oldestResults(queue, { from: from > now ? 0 : from, limit });
  const before = count;
  for (const job of jobs) {
    const isOld = keep.ms !== null && (job.endedAt ?? 0) < now - keep.ms;
    const isMany = (keep.count !== null && count > keep.count) || (keep.bytes !== null && bytes > keep.bytes);
    if (!isOld && !isMany) break;
    count -= 1;
    bytes -= resultBytes(job) ?? 0;
    const { job: after, row } = withoutResult(job, now);
    table.replace(job, after, row);
  }
  const passed = jobs[before - count - 1];
  if (passed !== undefined) table.setResultsFrom(queue, passed.endedAt ?? 0);
  return before - count;
}

export function prunable(table: Table, { queue }: InsightQueryOf<'prunable'>, { now }: Moment): readonly Prunable[] {
  const all = (queue === undefined ? table.queues() : [queue]).flatMap((name) => [
    { queue: name, kind: 'draft' as const, ...draftSurplus(table, name, now) },
    ...ENDED_STATES.map((kind) => ({ queue: name, kind, ...endedSurplus(table, name, kind, now) })),
    { queue: name, kind: 'results' as const, ...resultSurplus(table, name, now) },
    { queue: name, kind: 'statistics' as const, ...statisticsSurplus(table, name, now) },
  ]);
  return all.filter(hasSurplus);
}

function draftSurplus(table: Table, queue: string, now: number): Surplus {
  return { byAge: table.countBefore(queue, 'draft', now - DRAFT_TTL_MS), byCount: 0, byBytes: 0, bytes: 0 };
}

function statisticsSurplus(table: Table, queue: string, now: number): Surplus {
  const { count, bytes } = table.statisticsBefore(queue, keptSince(table.settings(queue), now).day);
  return { byAge: count, byCount: 0, byBytes: 0, bytes };
}

function endedSurplus(table: Table, queue: string, state: EndedState, now: number): Surplus {
  const keep = table.settings(queue).retention[state];
  const old = keep.ms === null ? 0 : table.countBefore(queue, state, now - keep.ms);
  const total = table.storage(queue)[state];
  // If nothing would be deleted, nothing is read: there may be many jobs.
  const limit = old > 0 || exceedsKeep(total, keep) ? MAX_PRUNABLE_SCAN : 0;
  return surplusOf({ total, old, oldest: table.oldestEnded(queue, state, { from: 0, limit }).map(storedBytes) }, keep);
}

/** Includes results of jobs that would be deleted themselves. */
function resultSurplus(table: Table, queue: string, now: number): Surplus {
  const keep = table.settings(queue).retention.results;
  const total = table.storage(queue).results;
  const from = table.resultsFrom(queue);
  const isLimited = keep.ms !== null || exceedsKeep(total, keep);
  // No more than exist: a search for one more would scan all jobs that have none.
  const limit = isLimited ? Math.min(MAX_PRUNABLE_SCAN, total.count) : 0;
  const jobs = table.oldestResults(queue, { from: from > now ? 0 : from, limit });
  const old = keep.ms === null ? 0 : jobs.filter((job) => (job.endedAt ?? 0) < now - (keep.ms ?? 0)).length;
  return surplusOf({ total, old, oldest: jobs.map((job) => resultBytes(job) ?? 0) }, keep);
}
