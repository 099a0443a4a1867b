/**
 * A job as a row: which column holds which part of it, both ways.
 *
 * Invariant: reading what was written gives an equal job. Only columns whose part differs are written, so that a
 * transition costs what it changes; nothing here knows which transition it is.
 */
import type { Job, JobPolicy } from '../../core/job.ts';

export type SqlValue = string | number | null;

interface Column {
  readonly name: string;
  /** The part of a job that stands in this column, to be compared by identity. */
  readonly part: (job: Job) => unknown;
  /** Where the part is no value of SQL. */
  readonly isJson?: true;
}

/** In the order of JobRow. */
const COLUMNS: readonly Column[] = [
  { name: 'seq', part: (job) => job.seq },
  { name: 'id', part: (job) => job.id },
  { name: 'queue', part: (job) => job.queue },
  { name: 'state', part: (job) => job.state },
  { name: 'priority', part: (job) => job.priority },
  { name: 'run_at', part: (job) => job.runAt },
  { name: 'returned_at', part: (job) => job.returnedAt },
  { name: 'created_at', part: (job) => job.createdAt },
  { name: 'delay_ms', part: (job) => job.delayMs },
  { name: 'attempt', part: (job) => job.attempt },
  { name: 'failures', part: (job) => job.failures },
  { name: 'resends', part: (job) => job.resends },
  { name: 'crashes', part: (job) => job.crashes },
  { name: 'interruptions', part: (job) => job.interruptions },
  { name: 'ended_at', part: (job) => job.endedAt },
  { name: 'forwarded_to', part: (job) => job.forwardedTo },
  { name: 'name', part: (job) => job.name },
  { name: 'tags', part: ({ tags }) => (tags.length === 0 ? null : tags), isJson: true },
  { name: 'policy', part: ({ policy }) => (isEmpty(policy) ? null : policy), isJson: true },
  { name: 'unique_key', part: (job) => job.unique, isJson: true },
  { name: 'progress', part: (job) => job.progress, isJson: true },
  { name: 'failure', part: (job) => job.failure, isJson: true },
  { name: 'result', part: (job) => job.result },
  { name: 'checkpoint', part: (job) => job.checkpoint },
  { name: 'data', part: (job) => job.data },
];
/** All of them null without a lease. */
const LEASE_COLUMNS: readonly Column[] = [
  { name: 'token', part: ({ lease }) => (lease === null ? null : lease.token) },
  { name: 'worker', part: ({ lease }) => (lease === null ? null : lease.worker) },
  { name: 'lease_ms', part: ({ lease }) => (lease === null ? null : lease.ms) },
  { name: 'lease_until', part: ({ lease }) => (lease === null ? null : lease.until) },
  { name: 'claimed_at', part: ({ lease }) => (lease === null ? null : lease.claimedAt) },
  { name: 'started_at', part: ({ lease }) => (lease === null ? null : lease.startedAt) },
  { name: 'pid', part: ({ lease }) => (lease === null ? null : lease.pid) },
  { name: 'cancel_asked_at', part: ({ lease }) => (lease === null ? null : lease.cancelAskedAt) },
  { name: 'pause_asked_at', part: ({ lease }) => (lease === null ? null : lease.pauseAskedAt) },
];
/** Only for the index of failure groups; it is read back as part of `failure`. */
const GROUP: Column = { name: 'failure_group', part: ({ failure }) => (failure === null ? null : failure.group) };
const WRITTEN = [...COLUMNS, GROUP, ...LEASE_COLUMNS].map(({ name, part, isJson = false }, place) => ({
  name,
  part,
  isJson,
  bit: 2 ** place,
}));
const WITHOUT_LEASE = WRITTEN.slice(0, -LEASE_COLUMNS.length);

const selected = (columns: readonly Column[]): string => columns.map(({ name }) => `jobs.${name}`).join(', ');
/** For rows that are known to have no lease; fewer columns are read faster. */
export const LEASELESS_COLUMNS = selected(COLUMNS);
export const JOB_COLUMNS = selected([...COLUMNS, ...LEASE_COLUMNS]);

/** The job whose parts are all what the schema says by default. */
export const UNBORN: Job = {
  id: '',
  queue: '',
  name: null,
  data: '',
  state: 'draft',
  priority: 0,
  tags: [],
  policy: {},
  unique: null,
  createdAt: 0,
  seq: 0,
  runAt: 0,
  delayMs: 0,
  returnedAt: null,
  attempt: 0,
  failures: 0,
  resends: 0,
  crashes: 0,
  interruptions: 0,
  lease: null,
  progress: null,
  checkpoint: null,
  result: null,
  failure: null,
  forwardedTo: null,
  endedAt: null,
};

/** Which columns differ, as a sum of bits (there are fewer than 53), and what they become. */
export interface Difference {
  readonly bits: number;
  readonly values: SqlValue[];
}

export function difference(before: Job, after: Job): Difference {
  const values: SqlValue[] = [];
  let bits = 0;
  for (const { part, isJson, bit } of before.lease === after.lease ? WITHOUT_LEASE : WRITTEN) {
    const value = part(after);
    if (value === part(before)) continue;
    bits += bit;
    values.push(isJson && value !== null ? JSON.stringify(value) : (value as SqlValue));
  }
  return { bits, values };
}

export function columnsOf(bits: number): readonly string[] {
  return WRITTEN.filter(({ bit }) => Math.floor(bits / bit) % 2 === 1).map(({ name }) => name);
}

function isEmpty(policy: JobPolicy): boolean {
  for (const _ in policy) return false;
  return true;
}
