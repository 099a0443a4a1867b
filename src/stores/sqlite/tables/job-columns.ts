/**
 * A job as a row, written: which column holds which part of it.
 *
 * Every value that is handed to SQLite costs about as much as what SQLite does with it. So a change writes only
 * the columns that differ, what is a word or null stands in the statement itself, and what few jobs have is one text.
 * Invariant: reading what was written gives an equal job. Nothing here knows which transition it is.
 */
import type { Job, Lease } from '../../../core/job/job.ts';
import { isBlocked, JOB_STATES } from '../../../core/job/job.ts';
import { hasSameRest, restText, sumOf } from './job-row.ts';

export type SqlValue = string | number | null;

const PLAIN = [
  'queue',
  'priority',
  'run_at',
  'returned_at',
  'attempt',
  'ended_at',
  'name',
  'result',
  'checkpoint',
  'data',
] as const;
/** In the order of the columns above: a bit says that the column is written. */
const [QUEUE, PRIORITY, RUN_AT, RETURNED_AT, ATTEMPT, ENDED_AT, NAME, RESULT, CHECKPOINT, DATA] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512,
] as const;
const LEASE = 1 << 10;
const LEASE_MARKS = 1 << 11;
const NO_LEASE = 1 << 12;
const REST = 1 << 13;
const FAILED = 1 << 14;
const DRAFT = 1 << 15;
const TURN = 1 << 22;
/** From here on three bits: 0 as it was, else the place of the new state and one. */
const STATE_SHIFT = 16;
/** And two: 0 as it was, else the place of what it becomes and one. */
const READY_SHIFT = 19;
const READINESS = [null, 0, 1] as const;
const BLOCKED = 1 << 21;

const LEASE_COLUMNS = ['token', 'worker', 'lease_ms', 'lease_until', 'claimed_at'];
/** Null until somebody says something of them. */
const MARK_COLUMNS = ['started_at', 'pid', 'cancel_asked_at', 'pause_asked_at'];

/** What differs: a number that names the columns, and the words among what they become; and the values. */
export interface Difference {
  readonly key: number;
  readonly values: SqlValue[];
}

/** `at`: when it happens; null where nothing can become due by it. */
export function difference(before: Job, after: Job, at: number | null): Difference {
  const values: SqlValue[] = [];
  let key = plainDifference(before, after, values);
  if (before.lease !== after.lease) key |= leaseDifference(before.lease, after.lease, values);
  if (!hasSameRest(before, after)) key |= put(values, restText(after), REST);
  const hasEnded = before.endedAt !== after.endedAt || before.failure !== after.failure;
  if (hasEnded || before.state !== after.state) key |= stateDifference(before, after, values);
  if (at !== null && (before.state === 'waiting' || after.state === 'waiting'))
    key |= (READINESS.indexOf(readyColumn(after, at)) + 1) << READY_SHIFT;
  if (isBlocked(before) !== isBlocked(after)) key |= put(values, blockedColumn(after), BLOCKED);
  if (before.turn !== after.turn) key |= put(values, after.turn, TURN);
  return { key, values };
}

/** Spelled out, since this runs for every transition. */
function plainDifference(before: Job, after: Job, values: SqlValue[]): number {
  let key = 0;
  if (before.queue !== after.queue) key |= put(values, after.queue, QUEUE);
  if (before.priority !== after.priority) key |= put(values, after.priority, PRIORITY);
  if (before.runAt !== after.runAt) key |= put(values, after.runAt, RUN_AT);
  if (before.returnedAt !== after.returnedAt) key |= put(values, after.returnedAt, RETURNED_AT);
  if (before.attempt !== after.attempt) key |= put(values, after.attempt, ATTEMPT);
  if (before.endedAt !== after.endedAt) key |= put(values, after.endedAt, ENDED_AT);
  if (before.name !== after.name) key |= put(values, after.name, NAME);
  if (before.result !== after.result) key |= put(values, after.result, RESULT, resultSum(after.result));
  if (before.checkpoint !== after.checkpoint) key |= put(values, after.checkpoint, CHECKPOINT);
  if (before.data !== after.data) key |= put(values, after.data, DATA, sumOf(after.data));
  return key;
}

/** `more`: what stands beside the value, in the order of its columns. */
function put(values: SqlValue[], value: SqlValue, bit: number, ...more: readonly SqlValue[]): number {
  values.push(value, ...more);
  return bit;
}

export const resultSum = (result: string | null): number | null => (result === null ? null : sumOf(result));

function leaseDifference(before: Lease | null, after: Lease | null, values: SqlValue[]): number {
  if (after === null) return NO_LEASE;
  values.push(...leaseColumns(after));
  // A lease that follows upon none finds them null.
  if (before === null && markColumns(after).every((mark) => mark === null)) return LEASE;
  values.push(...markColumns(after));
  return LEASE | LEASE_MARKS;
}

/** As LEASE_COLUMNS. */
export function leaseColumns({ token, worker, ms, until, claimedAt }: Lease): readonly SqlValue[] {
  return [token, worker, ms, until, claimedAt];
}

/** As MARK_COLUMNS. */
export function markColumns({ startedAt, pid, cancelAskedAt, pauseAskedAt }: Lease): readonly SqlValue[] {
  return [startedAt, pid, cancelAskedAt, pauseAskedAt];
}

function stateDifference(before: Job, after: Job, values: SqlValue[]): number {
  let key = 0;
  if (before.state === 'failed' || after.state === 'failed') {
    key |= FAILED;
    values.push(...failedColumns(after));
  }
  if (before.state === 'draft' || after.state === 'draft') key |= put(values, draftColumn(after), DRAFT);
  return before.state === after.state ? key : key | ((JOB_STATES.indexOf(after.state) + 1) << STATE_SHIFT);
}

export function failedColumns({ state, endedAt, failure }: Job): readonly SqlValue[] {
  return state === 'failed' ? [endedAt, failure?.group ?? ''] : [null, null];
}

export function draftColumn({ state, createdAt }: Job): SqlValue {
  return state === 'draft' ? createdAt : null;
}

export function blockedColumn(job: Job): SqlValue {
  return isBlocked(job) ? 1 : null;
}

/** Null: does not wait, or for other jobs. 0: waits for its time. 1: waits for a worker. (2 is for throttle-rows.ts: waits for a slot.) */
export function readyColumn(job: Job, at: number): 0 | 1 | null {
  if (job.state !== 'waiting' || isBlocked(job)) return null;
  return job.runAt <= at ? 1 : 0;
}

const assigned = (name: (typeof PLAIN)[number]): string =>
  name === 'data' || name === 'result' ? `${name} = ?, ${name}_sum = ?` : `${name} = ?`;

/** What stands between SET and WHERE, with a question mark for each value, in their order. */
export function assignmentsOf(key: number): readonly string[] {
  const sets: string[] = PLAIN.filter((_, place) => key & (1 << place)).map(assigned);
  const set = (bit: number, columns: readonly string[], value = '?') => {
    if (key & bit) sets.push(...columns.map((name) => `${name} = ${value}`));
  };
  set(LEASE, LEASE_COLUMNS);
  set(LEASE_MARKS, MARK_COLUMNS);
  set(NO_LEASE, [...LEASE_COLUMNS, ...MARK_COLUMNS], 'NULL');
  set(REST, ['rest']);
  set(FAILED, ['failed_at', 'failure_group']);
  set(DRAFT, ['draft_at']);
  set(BLOCKED, ['blocked']);
  set(TURN, ['turn']);
  const state = JOB_STATES[((key >> STATE_SHIFT) & 7) - 1];
  if (state !== undefined) sets.push(`state = '${state}'`);
  const ready = READINESS[((key >> READY_SHIFT) & 3) - 1];
  if (ready !== undefined) sets.push(`ready = ${ready}`);
  return sets;
}
