/**
 * Writes a job as a row: which column holds which field.
 *
 * Binding a value costs about as much as what SQLite does with it. So an update writes only the columns that differ, states
 * and nulls are part of the statement, and the fields that few jobs have share one text column.
 * Invariant: reading what was written gives an equal job. This file does not depend on the kind of transition.
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
/** One bit per column, in the order of PLAIN: set if the column is written. */
const [QUEUE, PRIORITY, RUN_AT, RETURNED_AT, ATTEMPT, ENDED_AT, NAME, RESULT, CHECKPOINT, DATA] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512,
] as const;
export const LEASE = 1 << 10;
const LEASE_STATUS = 1 << 11;
export const NO_LEASE = 1 << 12;
const REST = 1 << 13;
const FAILED = 1 << 14;
const DRAFT = 1 << 15;
const TURN = 1 << 22;
/** Three bits from here: 0 for unchanged, else the index of the new state plus one. */
const STATE_SHIFT = 16;
/** Two bits from here: 0 for unchanged, else the index of the new value plus one. */
const READY_SHIFT = 19;
const READINESS = [null, 0, 1] as const;
const BLOCKED = 1 << 21;

const LEASE_COLUMNS = ['token', 'worker', 'lease_ms', 'lease_until', 'claimed_at'];
/** Null until a heartbeat or an operator sets them. */
const LEASE_STATUS_COLUMNS = ['started_at', 'pid', 'cancel_asked_at', 'pause_asked_at'];

/** The difference of two records: a key for the columns and the values that are part of the statement, and the bound values. */
export interface Difference {
  readonly key: number;
  readonly values: SqlValue[];
}

/** `at`: the time of the transition; null if the job cannot become due by it. */
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

/** `more`: values of further columns that belong to the value, in their order. */
function put(values: SqlValue[], value: SqlValue, bit: number, ...more: readonly SqlValue[]): number {
  values.push(value, ...more);
  return bit;
}

export const resultSum = (result: string | null): number | null => (result === null ? null : sumOf(result));

function leaseDifference(before: Lease | null, after: Lease | null, values: SqlValue[]): number {
  if (after === null) return NO_LEASE;
  values.push(...leaseColumns(after));
  // They are null already if there was no lease before.
  if (before === null && leaseStatusColumns(after).every((value) => value === null)) return LEASE;
  values.push(...leaseStatusColumns(after));
  return LEASE | LEASE_STATUS;
}

/** The values of LEASE_COLUMNS. */
export function leaseColumns({ token, worker, ms, until, claimedAt }: Lease): readonly SqlValue[] {
  return [token, worker, ms, until, claimedAt];
}

/** The values of LEASE_STATUS_COLUMNS. */
export function leaseStatusColumns({ startedAt, pid, cancelAskedAt, pauseAskedAt }: Lease): readonly SqlValue[] {
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

/** Null: not waiting, or blocked. 0: scheduled. 1: waits for a worker. (2 is set by throttle-rows.ts: waits for a slot.) */
export function readyColumn(job: Job, at: number): 0 | 1 | null {
  if (job.state !== 'waiting' || isBlocked(job)) return null;
  return job.runAt <= at ? 1 : 0;
}

const assigned = (name: (typeof PLAIN)[number]): string =>
  name === 'data' || name === 'result' ? `${name} = ?, ${name}_sum = ?` : `${name} = ?`;

/** Returns the assignments after SET, with a question mark for each bound value, in their order. */
export function assignmentsOf(key: number): readonly string[] {
  const sets: string[] = PLAIN.filter((_, place) => key & (1 << place)).map(assigned);
  const set = (bit: number, columns: readonly string[], value = '?') => {
    if (key & bit) sets.push(...columns.map((name) => `${name} = ${value}`));
  };
  set(LEASE, LEASE_COLUMNS);
  set(LEASE_STATUS, LEASE_STATUS_COLUMNS);
  set(NO_LEASE, [...LEASE_COLUMNS, ...LEASE_STATUS_COLUMNS], 'NULL');
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
