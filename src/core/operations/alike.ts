/**
 * Changes of jobs that are alike: of a plain job, a claim, a completion or a retry changes nothing but the job itself. So
 * the first of several is applied with all that could follow (apply.ts), and the others like it.
 *
 * Invariant: `applyLike` does what `apply` would do. lifecycle.ts decides each job's change by itself.
 */
import type { Job, Lease } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { needsOf } from '../limits/resources.ts';
import { throttlesOf } from '../limits/throttle.ts';
import type { Table } from '../ports/table.ts';
import { measurementOf } from '../statistics/statistics.ts';
import { webhooksOf } from '../webhooks/webhook.ts';

/** A change that was applied, of a job before it. */
export interface Pattern {
  readonly before: Job;
  readonly change: Transition;
}

/** Returns a change that was applied as a pattern for jobs that are alike; null if more than the job changed with it. */
export function patternOf(table: Table, before: Job, change: Transition): Pattern | null {
  return isAlone(table, before) && isAlone(table, change.job) ? { before, change } : null;
}

/** Whether no limit, webhook, unique key, parent, child or equal job has to do with the job. */
function isAlone(table: Table, job: Job): boolean {
  const settings = table.settings(job.queue);
  const isUnlimited = settings.keys === null && settings.coalesce === null && settings.maxRunning === null;
  if (!isUnlimited || throttlesOf(job, settings).length > 0 || needsOf(job, settings) !== '') return false;
  const hasSlots = job.slots.length > 0 || job.unique !== null || webhooksOf(job, settings).length > 0;
  const hasFamily = job.parents !== null || job.dependents > 0 || job.folded > 0 || job.foldedInto !== null;
  return !hasSlots && !hasFamily && job.steps === null && job.suspension === null && job.coalesceKey === null;
}

/**
 * Returns whether two jobs are the same but for id, data, number, priority, times and token. Spelled out because it runs
 * for every claim and settlement.
 */
export function isAlike(a: Job, b: Job): boolean {
  return (
    a.state === b.state &&
    a.queue === b.queue &&
    a.attempt === b.attempt &&
    a.policy === b.policy &&
    a.tags === b.tags &&
    hasSameLease(a.lease, b.lease) &&
    a.name === b.name &&
    a.delayMs === b.delayMs &&
    a.freedAt === b.freedAt &&
    a.returnedAt === b.returnedAt &&
    a.turn === b.turn &&
    a.checkpoint === b.checkpoint &&
    a.result === b.result &&
    a.progress === b.progress &&
    a.endedAt === b.endedAt &&
    a.forwardedTo === b.forwardedTo &&
    hasSameCounts(a, b) &&
    hasSameFamily(a, b)
  );
}

function hasSameCounts(a: Job, b: Job): boolean {
  return (
    a.failures === b.failures &&
    a.resends === b.resends &&
    a.crashes === b.crashes &&
    a.interruptions === b.interruptions &&
    a.failure === b.failure
  );
}

function hasSameFamily(a: Job, b: Job): boolean {
  return (
    a.unique === b.unique &&
    a.parents === b.parents &&
    a.dependents === b.dependents &&
    a.coalesceKey === b.coalesceKey &&
    a.foldedInto === b.foldedInto &&
    a.folded === b.folded &&
    a.slots === b.slots &&
    a.steps === b.steps &&
    a.suspension === b.suspension
  );
}

function hasSameLease(a: Lease | null, b: Lease | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.worker === b.worker &&
    a.ms === b.ms &&
    a.until === b.until &&
    a.claimedAt === b.claimedAt &&
    a.startedAt === b.startedAt &&
    a.pid === b.pid &&
    a.cancelAskedAt === b.cancelAskedAt &&
    a.pauseAskedAt === b.pauseAskedAt
  );
}

/** Returns whether a change of a job that is alike gives it what the pattern's job got, and as many new values. */
export function isSameChange({ before: first, change: like }: Pattern, before: Job, { job, row }: Transition): boolean {
  const after = like.job;
  if (job.state !== after.state || job.result !== after.result || job.failure !== after.failure) return false;
  if (row.event !== like.row.event || row.note !== like.row.note) return false;
  if (job.state !== 'waiting') return true;
  // A retry has a new run time. One that is the old one by chance would not be among the values that change.
  const isNew = first.runAt !== after.runAt && before.runAt !== job.runAt;
  return isNew && job.runAt === after.runAt && job.delayMs === after.delayMs;
}

/** Applies the same change to a job that is alike: `isAlike(pattern.before, before)`. */
export function applyLike(table: Table, pattern: Pattern, before: Job, change: Transition): void {
  const { id, queue, state } = change.job;
  const measurement = measurementOf(before, change);
  table.replaceLike(pattern.change, before, change);
  if (measurement !== null) table.measure(measurement);
  table.emit({ type: change.row.event, id, queue, state });
}
