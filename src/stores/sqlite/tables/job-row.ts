/**
 * Reads a job from its row, and encodes `rest`: the fields that few jobs have, as one text.
 *
 * Invariant: a job whose data or result does not match its checksum, or whose rest is not JSON, is read and marked as
 * damaged (`damageOf`).
 */
import { crc32 } from 'node:zlib';
import type { Job, JobPolicy, JobState, Lease } from '../../../core/job/job.ts';
import { NO_SLOTS } from '../../../core/job/job.ts';
import { shortCrc32 } from '../short-crc32.ts';

/** In the order of JOB_COLUMNS; WAITING_COLUMNS are the same without the end. */
export type JobRow = readonly [
  seq: number,
  id: string,
  queue: string,
  state: JobState,
  priority: number,
  runAt: number,
  returnedAt: number | null,
  createdAt: number,
  attempt: number,
  name: string | null,
  rest: string | null,
  result: string | null,
  checkpoint: string | null,
  data: string,
  /** Null for a row without a checksum. */
  dataSum: number | null,
  ...end: EndOfRow | readonly [],
];

type EndOfRow = readonly [
  endedAt: number | null,
  token: number | null,
  worker: string | null,
  leaseMs: number | null,
  leaseUntil: number | null,
  claimedAt: number | null,
  startedAt: number | null,
  pid: number | null,
  cancelAskedAt: number | null,
  pauseAskedAt: number | null,
  resultSum: number | null,
];

const selected = (names: string): string => names.replaceAll(/\w+/g, 'jobs.$&');
/** For rows that are known to have no lease and no end time: fewer columns are read faster. */
export const WAITING_COLUMNS = selected(
  'seq, id, queue, state, priority, run_at, returned_at, created_at, attempt, name, rest, result, checkpoint, data, data_sum',
);
/** For ready jobs of one queue that have not returned: a column that is read costs a tenth of a microsecond or more. */
export const READY_COLUMNS = selected(
  'seq, id, priority, run_at, created_at, attempt, name, rest, result, checkpoint, data, data_sum',
);
export const JOB_COLUMNS = `${WAITING_COLUMNS}, ${selected(
  'ended_at, token, worker, lease_ms, lease_until, claimed_at, started_at, pid, cancel_asked_at, pause_asked_at, result_sum',
)}`;

/** In the order of READY_COLUMNS. */
export type ReadyRow = readonly [
  seq: number,
  id: string,
  priority: number,
  runAt: number,
  createdAt: number,
  attempt: number,
  name: string | null,
  rest: string | null,
  result: string | null,
  checkpoint: string | null,
  data: string,
  dataSum: number | null,
];

type Rest = Pick<
  Job,
  | 'tags'
  | 'policy'
  | 'unique'
  | 'parents'
  | 'dependents'
  | 'delayMs'
  | 'freedAt'
  | 'failures'
  | 'resends'
  | 'crashes'
  | 'interruptions'
  | 'turn'
  | 'coalesceKey'
  | 'foldedInto'
  | 'folded'
  | 'slots'
  | 'steps'
  | 'suspension'
  | 'progress'
  | 'failure'
  | 'forwardedTo'
>;
const NO_REST: Rest = Object.freeze({
  tags: Object.freeze([]),
  policy: Object.freeze({}),
  unique: null,
  parents: null,
  dependents: 0,
  delayMs: null,
  freedAt: null,
  failures: 0,
  resends: 0,
  crashes: 0,
  interruptions: 0,
  turn: 0,
  coalesceKey: null,
  foldedInto: null,
  folded: 0,
  slots: NO_SLOTS,
  steps: null,
  suspension: null,
  progress: null,
  failure: null,
  forwardedTo: null,
});

/** `record`: the fields other than data and result. */
export type Part = 'data' | 'result' | 'record';

/** A symbol: it survives copies of the job, is not one of its fields, and never leaves the engine. */
const DAMAGED = Symbol('damaged');

/** Returns which part of a job is not what was written; null if it is sound. */
export function damageOf(job: Job): Part | null {
  return (job as { readonly [DAMAGED]?: Part })[DAMAGED] ?? null;
}

/** Returns the checksum of a text. Signed: such a number is bound faster and takes four bytes. */
export const sumOf = (text: string): number => shortCrc32(text) ?? crc32(text) | 0;

/** Reads by place: V8 takes long to compile a list pattern, and this runs for every job. */
// biome-ignore format: one line a thought
export function readJob(row: JobRow): Job {
  const text = row[10];
  const result = row[11];
  const data = row[13];
  const token = row[16] ?? null;
  const rest = text === null ? NO_REST : readRest(text);
  const {
    tags, policy, unique, parents, dependents, delayMs, freedAt, failures, resends, crashes, interruptions, turn,
    coalesceKey, foldedInto, folded, slots, steps, suspension, progress, failure, forwardedTo,
  } = rest ?? NO_REST;
  const job: Job = {
    id: row[1], queue: row[2], name: row[9], data, state: row[3], priority: row[4], tags, policy, unique, parents, dependents,
    createdAt: row[7], seq: row[0], runAt: row[5], delayMs, freedAt, returnedAt: row[6], turn, coalesceKey, foldedInto, folded,
    slots, steps, suspension, attempt: row[8], failures, resends, crashes, interruptions,
    lease: token === null ? null : leaseOf(token, row),
    progress, checkpoint: row[12], result, failure, forwardedTo, endedAt: row[15] ?? null,
  };
  const part = !isIntact(data, row[14]) ? 'data' : !isIntact(result, row[25] ?? null) ? 'result' : rest === null ? 'record' : null;
  return part === null ? job : Object.assign(job, { [DAMAGED]: part });
}

// biome-ignore format: one line a thought
function leaseOf(token: number, row: JobRow): Lease {
  return {
    token, worker: row[17], ms: row[18], until: row[19], claimedAt: row[20],
    startedAt: row[21], pid: row[22], cancelAskedAt: row[23], pauseAskedAt: row[24],
  } as Lease;
}

// biome-ignore format: one line a thought
export function readReady(queue: string, row: ReadyRow): Job {
  return readJob([
    row[0], row[1], queue, 'waiting', row[2], row[3], null, row[4], row[5],
    row[6], row[7], row[8], row[9], row[10], row[11],
  ]);
}

/** Damage may also leave a checksum without its text, or a value that is not a text. */
function isIntact(text: string | null, sum: number | null): boolean {
  return sum === null || (typeof text === 'string' && sumOf(text) === sum);
}

/** The inverse of `readJob`, for a job that is sent to another thread. */
export function rowOf(job: Job): JobRow {
  const { seq, id, queue, state, priority, runAt, returnedAt, createdAt, attempt, name, result, checkpoint } = job;
  const { token = null, worker = null, ms = null, until = null, claimedAt = null } = job.lease ?? {};
  const { startedAt = null, pid = null, cancelAskedAt = null, pauseAskedAt = null } = job.lease ?? {};
  // biome-ignore format: one line a thought
  return [
    seq, id, queue, state, priority, runAt, returnedAt, createdAt, attempt,
    name, restText(job), result, checkpoint, job.data, null,
    job.endedAt, token, worker, ms, until, claimedAt, startedAt, pid, cancelAskedAt, pauseAskedAt, null,
  ];
}

/** The last text that was read: jobs that are read together often have the same one. They share its values then. */
let lastRead: { readonly text: string; readonly rest: Rest } = { text: '{}', rest: NO_REST };

/** Returns null if the text is not JSON. */
function readRest(text: string): Rest | null {
  if (text === lastRead.text) return lastRead.rest;
  try {
    const rest = frozen({ ...NO_REST, ...(JSON.parse(text) as Partial<Rest>) });
    lastRead = { text, rest };
    return rest;
  } catch {
    return null;
  }
}

/** Freezes a value from JSON and all that is in it: several jobs share it. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

/** Spelled out because it runs for every transition. */
export function hasSameRest(a: Rest, b: Rest): boolean {
  return a.tags === b.tags && a.policy === b.policy && a.slots === b.slots && hasSameValues(a, b);
}

/** The same without lists and the policy, which may be equal without being identical. */
function hasSameValues(a: Rest, b: Rest): boolean {
  return (
    a.unique === b.unique &&
    a.parents === b.parents &&
    a.dependents === b.dependents &&
    a.delayMs === b.delayMs &&
    a.freedAt === b.freedAt &&
    a.failures === b.failures &&
    a.resends === b.resends &&
    a.crashes === b.crashes &&
    a.interruptions === b.interruptions &&
    a.turn === b.turn &&
    a.coalesceKey === b.coalesceKey &&
    a.foldedInto === b.foldedInto &&
    a.folded === b.folded &&
    a.steps === b.steps &&
    a.suspension === b.suspension &&
    a.progress === b.progress &&
    a.failure === b.failure &&
    a.forwardedTo === b.forwardedTo
  );
}

/** The last fields that were written, and their text: the next job often has the same. */
let lastWritten: { readonly rest: Rest; readonly text: string } = { rest: NO_REST, text: '{}' };

/** Returns only the fields that differ from their default; null if none do. */
export function restText(job: Rest): string | null {
  const { tags, policy, slots } = job;
  if (tags.length === 0 && isEmpty(policy) && slots.length === 0 && hasSameValues(job, NO_REST)) return null;
  if (!hasSameRest(job, lastWritten.rest)) lastWritten = { rest: job, text: textOf(job) };
  return lastWritten.text;
}

function textOf(job: Rest): string {
  const { tags, policy, slots } = job;
  const rest: Record<string, unknown> = { ...(tags.length > 0 && { tags }), ...(!isEmpty(policy) && { policy }) };
  for (const part of REST_VALUES) if (job[part] !== NO_REST[part]) rest[part] = job[part];
  if (slots.length === 0) delete rest['slots'];
  return JSON.stringify(rest);
}

function isEmpty(policy: JobPolicy): boolean {
  for (const _ in policy) return false;
  return true;
}

const REST_VALUES = [
  'unique',
  'parents',
  'dependents',
  'delayMs',
  'freedAt',
  'failures',
  'resends',
  'crashes',
  'interruptions',
  'turn',
  'coalesceKey',
  'foldedInto',
  'folded',
  'slots',
  'steps',
  'suspension',
  'progress',
  'failure',
  'forwardedTo',
] as const;
