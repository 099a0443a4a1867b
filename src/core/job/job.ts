/**
 * The job record: what a store keeps of one unit of work.
 *
 * Pure data. Times are epoch milliseconds of the store's clock. `data`, `result` and `checkpoint` are JSON
 * *texts*: the core and the stores never look inside them, so nobody pays for parsing what is only passed on.
 */
import type { Hook } from '../webhooks/webhook.ts';

export const JOB_STATES = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;
/** The state of a job. */
export type JobState = (typeof JOB_STATES)[number];

export const ENDED_STATES = ['done', 'failed', 'cancelled'] as const;
export type EndedState = (typeof ENDED_STATES)[number];

/** The timed right to one attempt. `token` is the fence: an integer that only grows over the whole store. */
export interface Lease {
  readonly token: number;
  readonly worker: string;
  readonly ms: number;
  readonly until: number;
  readonly claimedAt: number;
  /** When the worker reported that the work began, and as which process. */
  readonly startedAt: number | null;
  readonly pid: number | null;
  readonly cancelAskedAt: number | null;
  readonly pauseAskedAt: number | null;
}

export interface Progress {
  /** 0 to 100, or null when only words are known. */
  readonly percent: number | null;
  readonly text: string | null;
  readonly at: number;
}

/** Why an attempt ended badly. `group` is what makes failures of one kind countable. */
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
  /** Share of the delay that is random: 0 none, 1 anything from nothing to the whole delay. */
  readonly jitter: number;
  /** Only with kind 'list': the delay after each failure; the last one goes on. */
  readonly delaysMs: readonly number[];
}

export const DEPENDENCY_RULES = ['hold', 'fail', 'run'] as const;
/** What becomes of a job when one that it waits for fails, is cancelled or is deleted. */
export type OnDependencyFailed = (typeof DEPENDENCY_RULES)[number];

/**
 * The jobs that a job was made to wait for, as numbers: `open` of them it still waits for, and `bad` of those have
 * failed or were cancelled.
 */
export interface Parents {
  readonly of: number;
  readonly open: number;
  readonly bad: number;
}

/** What one job overrides of its queue's settings, and its key. Some of it is for the worker alone. */
export interface JobPolicy {
  readonly retries?: number;
  readonly maxResends?: number;
  readonly backoff?: Backoff;
  readonly maxRuntimeMs?: number;
  readonly maxSilenceMs?: number;
  readonly onDependencyFailed?: OnDependencyFailed;
  /** Names of throttles, instead of the queue's. */
  readonly throttles?: readonly string[];
  /** Instead of what the data says; counts where the queue has `keys`. */
  readonly key?: string;
  /** Beside those of the queue. */
  readonly hooks?: readonly Hook[];
  /** What it needs of its worker, instead of the queue's: needs.ts. */
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
  /** Null for a job that was never told to wait for another. */
  readonly parents: Parents | null;
  /** How many jobs still wait for this one, whatever state they are in. */
  readonly dependents: number;
  readonly createdAt: number;
  /** Insertion number: the last tie-break of the order of claims. */
  readonly seq: number;
  /** Not to be claimed before. For a draft: the earliest that its producer asked for. */
  readonly runAt: number;
  /**
   * The delay from which the store computed `runAt`; null where the producer gave a time, and for a job that was to run when
   * it was added. For a draft: its delay, which starts at its commit.
   */
  readonly delayMs: number | null;
  /**
   * When it last came free to be claimed: other jobs held it up no longer, it was taken from its holder, or its time was
   * moved into the past. Null where `runAt` says it.
   */
  readonly freedAt: number | null;
  /** Set while the job is returned work, which is claimed before everything else. */
  readonly returnedAt: number | null;
  /** Its turn among the keys of its queue; 0 where keys take no turns. */
  readonly turn: number;
  /** What makes it equal to others of its queue (coalesce.ts); only while it stands in line. */
  readonly coalesceKey: string | null;
  /** The job it was folded into when that one started: while it waits for its end, and once it is done with it. */
  readonly foldedInto: string | null;
  /** How many jobs were folded into it when it started: while it runs, and once it is done. */
  readonly folded: number;
  /** Addresses of the throttles of which it holds a slot; only while it runs. */
  readonly slots: readonly string[];
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

/** Of all jobs that hold none, so that it is one and the same list. */
export const NO_SLOTS: readonly string[] = Object.freeze([]);

export type RunningJob = Job & { readonly state: 'running'; readonly lease: Lease };

export function isRunning(job: Job): job is RunningJob {
  return job.state === 'running' && job.lease !== null;
}

export function isEnded(state: JobState): state is EndedState {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

/** Waits for other jobs, or for the end of the one it is folded into: no claim sees it. */
export function isBlocked({ state, parents, foldedInto }: Pick<Job, 'state' | 'parents' | 'foldedInto'>): boolean {
  return state === 'waiting' && (foldedInto !== null || (parents !== null && parents.open > 0));
}

/** Returns since when a job that waits can be claimed: its time has come, and no other job holds it up. */
export function readySince({ runAt, createdAt, freedAt }: Pick<Job, 'runAt' | 'createdAt' | 'freedAt'>): number {
  return Math.max(runAt, createdAt, freedAt ?? 0);
}

/** Ended, but not as those who wait for it want. */
export function isBad(state: JobState): boolean {
  return state === 'failed' || state === 'cancelled';
}
