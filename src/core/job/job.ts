/**
 * The job record: what a store keeps of one unit of work.
 *
 * Pure data. Times are epoch milliseconds of the store's clock. `data`, `result` and `checkpoint` are JSON *texts*: the
 * core and the stores never parse them, because parsing a value that is only passed on is wasted work.
 */
import type { Webhook } from '../webhooks/webhook.ts';
import type { StepSums, Suspension } from './step.ts';

export const JOB_STATES = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;
/** The state of a job. */
export type JobState = (typeof JOB_STATES)[number];

export const ENDED_STATES = ['done', 'failed', 'cancelled'] as const;
export type EndedState = (typeof ENDED_STATES)[number];

/**
 * The timed right to run one attempt. `token` is the fencing number: an integer that only grows across the whole store.
 */
export interface Lease {
  readonly token: number;
  readonly worker: string;
  readonly ms: number;
  readonly until: number;
  readonly claimedAt: number;
  /** When the worker reported that the attempt began, and the process id it reported. */
  readonly startedAt: number | null;
  readonly pid: number | null;
  readonly cancelAskedAt: number | null;
  readonly pauseAskedAt: number | null;
}

export interface Progress {
  /** 0 to 100, or null when only a text is known. */
  readonly percent: number | null;
  readonly text: string | null;
  readonly at: number;
}

/** Why an attempt failed. `group` labels failures of one kind, so that they can be counted. */
export interface Failure {
  /** The label by which failures are grouped and counted. */
  readonly group: string;
  /** What went wrong, in one line. */
  readonly message: string;
  /** More lines, such as a stack trace. */
  readonly detail: string | null;
}

export type UniqueScope = 'queue' | 'store';
export type UniqueUntil = 'started' | 'ended' | 'period';

export interface UniqueKey {
  readonly key: string;
  readonly scope: UniqueScope;
  readonly until: UniqueUntil;
  /** Only with until 'period'; 0 otherwise. */
  readonly periodMs: number;
}

export interface Backoff {
  readonly kind: 'fixed' | 'exponential' | 'list';
  readonly delayMs: number;
  readonly maxMs: number;
  /** Share of the delay that is random: 0 for none, 1 for a random delay between 0 and the whole delay. */
  readonly jitter: number;
  /** Only with kind 'list': the delay after each failure. The last delay is used for all further failures. */
  readonly delaysMs: readonly number[];
}

export const DEPENDENCY_RULES = ['hold', 'fail', 'run'] as const;
/** The effect on a job when a job that it waits for fails, is cancelled or is deleted. */
export type OnDependencyFailed = (typeof DEPENDENCY_RULES)[number];

/**
 * The parents of a job, as counts. `of`: all parents. `open`: parents that the job still waits for. `bad`: open parents
 * that failed or were cancelled.
 */
export interface Parents {
  readonly of: number;
  readonly open: number;
  readonly bad: number;
}

/** Overrides of the queue's settings for one job, and the job's key. Some of them are used only by the worker. */
export interface JobPolicy {
  readonly retries?: number;
  readonly maxResends?: number;
  readonly backoff?: Backoff;
  readonly maxRuntimeMs?: number;
  readonly maxSilenceMs?: number;
  readonly onDependencyFailed?: OnDependencyFailed;
  /** Names of throttles, in place of the queue's. */
  readonly throttles?: readonly string[];
  /** In place of the key taken from the data; used only if the queue has `keys`. */
  readonly key?: string;
  /** In addition to the queue's webhooks. */
  readonly hooks?: readonly Webhook[];
  /** Resources that the job needs of its worker, in place of the queue's: see limits/resources.ts. */
  readonly needs?: string;
}

export interface Job {
  readonly id: string;
  readonly queue: string;
  readonly name: string | null;
  readonly data: string;
  readonly state: JobState;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly policy: JobPolicy;
  readonly unique: UniqueKey | null;
  /** Null for a job that never had a dependency. */
  readonly parents: Parents | null;
  /** How many jobs still wait for this one, whatever state they are in. */
  readonly dependents: number;
  readonly createdAt: number;
  /** Insertion number: the last tie-break in claim order. */
  readonly seq: number;
  /** The earliest time of a claim. For a draft: the earliest time that its producer gave. */
  readonly runAt: number;
  /**
   * The delay from which the store computed `runAt`. Null if the producer gave a time, and for a job without a delay.
   * For a draft: its delay, which starts at its commit.
   */
  readonly delayMs: number | null;
  /**
   * When the job last became claimable in a way other than by `runAt`: its last dependency ended, it was taken from its
   * lease holder, or its run time was moved into the past. Null otherwise.
   */
  readonly freedAt: number | null;
  /** Set while the job is returned work, which is claimed before all other jobs. */
  readonly returnedAt: number | null;
  /** The job's turn among the keys of its queue; 0 if the queue has no keys. */
  readonly turn: number;
  /** The key shared by equal jobs of the queue (limits/coalesce.ts). Set only while the job is claimable. */
  readonly coalesceKey: string | null;
  /** The job that this job was coalesced into: set while it waits for that job to end, and after both are done. */
  readonly foldedInto: string | null;
  /** How many jobs were coalesced into this one when it started: set while it runs, and after it is done. */
  readonly folded: number;
  /** Addresses of the throttles of which the job holds a slot; only while it runs. */
  readonly slots: readonly string[];
  /** The number and bytes of its steps; null for a job without steps. */
  readonly steps: StepSums | null;
  /** Set while the job is suspended, and while the resumed attempt runs. */
  readonly suspension: Suspension | null;
  readonly attempt: number;
  readonly failures: number;
  readonly resends: number;
  readonly crashes: number;
  readonly interruptions: number;
  readonly lease: Lease | null;
  readonly progress: Progress | null;
  readonly checkpoint: string | null;
  readonly result: string | null;
  readonly failure: Failure | null;
  readonly forwardedTo: string | null;
  readonly endedAt: number | null;
}

/** One shared empty list for all jobs without slots. */
export const NO_SLOTS: readonly string[] = Object.freeze([]);

export type RunningJob = Job & { readonly state: 'running'; readonly lease: Lease };

export function isRunning(job: Job): job is RunningJob {
  return job.state === 'running' && job.lease !== null;
}

/** Returns whether this attempt of the job runs, or is suspended and will resume. */
export function isOpenAttempt(job: Job, attempt: number): boolean {
  return job.attempt === attempt && (job.state === 'running' || job.suspension !== null);
}

export function isEnded(state: JobState): state is EndedState {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

/**
 * Returns whether the job waits for other jobs, or for the job that it is coalesced into. Claims skip a blocked job.
 */
export function isBlocked({ state, parents, foldedInto }: Pick<Job, 'state' | 'parents' | 'foldedInto'>): boolean {
  return state === 'waiting' && (foldedInto !== null || (parents !== null && parents.open > 0));
}

/** Returns whether the job waits for a time, an event or other jobs in the middle of an attempt. */
export function isSuspended({ state, suspension }: Pick<Job, 'state' | 'suspension'>): boolean {
  return state === 'waiting' && suspension !== null;
}

/** Returns since when a waiting job can be claimed: its run time has come, and no other job blocks it. */
export function readySince({ runAt, createdAt, freedAt }: Pick<Job, 'runAt' | 'createdAt' | 'freedAt'>): number {
  return Math.max(runAt, createdAt, freedAt ?? 0);
}

/** Returns whether the job ended without success. */
export function isUnsuccessful(state: JobState): boolean {
  return state === 'failed' || state === 'cancelled';
}
