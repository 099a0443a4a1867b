/** Reading a job from its row. Parses only what is there: most jobs have no tags, policy, key, progress or failure. */
import type { Failure, Job, JobPolicy, JobState, Lease, Progress, UniqueKey } from '../../core/job.ts';

/** In the order of JOB_COLUMNS; LEASELESS_COLUMNS are the same without the end. */
export type JobRow = readonly [
  seq: number,
  id: string,
  queue: string,
  state: JobState,
  priority: number,
  runAt: number,
  returnedAt: number | null,
  createdAt: number,
  delayMs: number,
  attempt: number,
  failures: number,
  resends: number,
  crashes: number,
  interruptions: number,
  endedAt: number | null,
  forwardedTo: string | null,
  name: string | null,
  tags: string | null,
  policy: string | null,
  unique: string | null,
  progress: string | null,
  failure: string | null,
  result: string | null,
  checkpoint: string | null,
  data: string,
  ...lease: LeaseRow | readonly [],
];

type LeaseRow = readonly [
  token: number | null,
  worker: string | null,
  leaseMs: number | null,
  leaseUntil: number | null,
  claimedAt: number | null,
  startedAt: number | null,
  pid: number | null,
  cancelAskedAt: number | null,
  pauseAskedAt: number | null,
];

const NO_TAGS: readonly string[] = Object.freeze([]);
const NO_POLICY: JobPolicy = Object.freeze({});

// biome-ignore format: one line a thought
export function readJob(row: JobRow): Job {
  const [
    seq, id, queue, state, priority, runAt, returnedAt, createdAt, delayMs,
    attempt, failures, resends, crashes, interruptions,
    endedAt, forwardedTo, name, tags, policy, unique, progress, failure, result, checkpoint, data,
    token = null, worker, ms, until, claimedAt, startedAt, pid, cancelAskedAt, pauseAskedAt,
  ] = row;
  return {
    id, queue, name, data, state, priority,
    tags: parse<readonly string[]>(tags) ?? NO_TAGS,
    policy: parse<JobPolicy>(policy) ?? NO_POLICY,
    unique: parse<UniqueKey>(unique),
    createdAt, seq, runAt, delayMs, returnedAt,
    attempt, failures, resends, crashes, interruptions,
    lease: token === null ? null
      : { token, worker, ms, until, claimedAt, startedAt, pid, cancelAskedAt, pauseAskedAt } as Lease,
    progress: parse<Progress>(progress),
    checkpoint, result,
    failure: parse<Failure>(failure),
    forwardedTo, endedAt,
  };
}

function parse<T>(json: string | null): T | null {
  return json === null ? null : (JSON.parse(json) as T);
}
