// Long because it is the whole vocabulary of the port on one page.
/**
 * The JobStore port: twenty intents, each atomic, each in bulk where it is hot.
 *
 * What every implementation promises:
 * - A call ends ok, refused, or throws. `store-unavailable` says that nothing was done, `outcome-unknown` that
 *   the reply was lost; then the same call may be made again and answers as the first one would have.
 * - Invariant: a result array has the order and the length of its input array.
 * - Invariant: within one call, items take effect in their order; across calls, each call is one atomic step.
 * - The clock is the store's. `now` is taken from the caller only where the store was opened for it.
 */

import type { HistoryRow } from '../job/history.ts';
import type { Failure, Job, JobPolicy, JobState, UniqueKey } from '../job/job.ts';
import type { Label } from '../job/label.ts';
import type { Offer } from '../limits/resources.ts';
import type { FailureTrend } from '../statistics/failure-trend.ts';
import type { AnswerOf, Question } from './insight.ts';
import type { Refused } from './refusal.ts';

export interface CallOptions {
  /** The caller's clock; only in a store opened with `clock: 'caller'`. */
  readonly now?: number;
}

export interface NewJob {
  readonly id: string;
  readonly queue: string;
  readonly data: string;
  readonly name?: string;
  /** Lower runs first; the queue's own when left out. */
  readonly priority?: number;
  readonly runAt?: number;
  readonly delayMs?: number;
  readonly tags?: readonly string[];
  readonly policy?: JobPolicy;
  readonly unique?: UniqueKey;
  /** Ids of the jobs that must be done before, also of those earlier in the same call. */
  readonly dependsOn?: readonly string[];
  /** What becomes of a waiting job that holds the unique key; left out, it is kept as it is. */
  readonly onTaken?: OnTaken;
  readonly draft?: boolean;
}

/**
 * `replace`: it gets the data of the later one. `debounce`: and its time too, but none later than `maxWaitMs` after it
 * was added. `follow`: it is left alone, and the later one waits for its end and holds the key from now on (hooks).
 */
export interface OnTaken {
  readonly kind: 'replace' | 'debounce' | 'follow';
  readonly maxWaitMs: number | null;
}

/**
 * `duplicate`: another job holds the unique key, and `id` is that job's. Nothing was written then. `replaced`: that job
 * waits, and got what `onTaken` says.
 */
export type AddResult =
  | {
      readonly ok: true;
      readonly outcome: AddOutcome;
      readonly id: string;
      readonly queue: string;
      readonly state: JobState;
    }
  | Refused;

export const ADD_OUTCOMES = ['added', 'exists', 'duplicate', 'replaced'] as const;
export type AddOutcome = (typeof ADD_OUTCOMES)[number];

export interface ClaimRequest {
  readonly worker: string;
  /** In order: what the first has is taken before the second is looked at. */
  readonly queues: readonly string[];
  readonly limit: number;
  /** Default: the queue's own lease. */
  readonly leaseMs?: number;
  /** What the worker has and what of it is free; without it, it gets no job that needs anything. */
  readonly offers?: Offer;
  /** A repeated claim with the worker's latest request id gets the same leases again. */
  readonly requestId: string;
}

export interface ClaimResult {
  readonly jobs: readonly Job[];
  /** The store's time, and the soonest at which time alone would make something claimable in these queues. */
  readonly now: number;
  readonly nextAt: number | null;
}

export interface Heartbeat {
  readonly id: string;
  readonly token: number;
  /** Default: the length the lease was claimed with. */
  readonly leaseMs?: number;
  readonly started?: { readonly pid: number | null };
  readonly progress?: { readonly percent: number | null; readonly text: string | null };
  readonly checkpoint?: string;
  readonly data?: string;
}

export type HeartbeatResult =
  | { readonly ok: true; readonly until: number; readonly cancelAsked: boolean; readonly pauseAsked: boolean }
  | Refused;

interface SettlementOf {
  readonly id: string;
  readonly token: number;
}
/**
 * How an attempt ended. `fail` and `retry` both count a failure; `fail` waits `delayMs` when a retry is left and
 * `final` forbids one. `release` gives the job back through no fault of its own; `crash` reports what
 * ran it as lost, sooner than its lease would.
 */
export type Settlement =
  | (SettlementOf & {
      readonly kind: 'complete';
      readonly result?: string;
      readonly data?: string;
      readonly next?: { readonly queue: string; readonly delayMs: number; readonly dependsOn?: readonly string[] };
    })
  | (SettlementOf & {
      readonly kind: 'fail';
      readonly failure: Failure;
      readonly delayMs: number;
      readonly final?: boolean;
    })
  | (SettlementOf & { readonly kind: 'retry'; readonly failure: Failure; readonly delayMs: number })
  | (SettlementOf & { readonly kind: 'resend'; readonly delayMs: number; readonly reason: string })
  | (SettlementOf & { readonly kind: 'release'; readonly reason: string })
  | (SettlementOf & { readonly kind: 'crash'; readonly reason: string })
  | (SettlementOf & { readonly kind: 'forward'; readonly address: string });
export type SettlementKind = Settlement['kind'];

export type SettleResult = { readonly ok: true; readonly state: JobState } | Refused;

/** A job as its caller saw it; with `attempt`, refused as `moved-on` when it has been claimed since. */
export interface Target {
  readonly id: string;
  readonly attempt?: number;
}

/** A job that others wait for is only cancelled with a word about them: to go with it, or to be left to their own rule. */
export interface Cancel extends Target {
  readonly dependents?: 'cancel' | 'leave';
}

/** `cancelled`: ended now. `asked`: it runs, and ends when its worker has stopped it or lost it. */
export type CancelResult = { readonly ok: true; readonly outcome: 'cancelled' | 'asked' } | Refused;

export interface Requeue extends Target {
  /** Default: where it was. */
  readonly queue?: string;
  readonly delayMs?: number;
  /** Also while it waits or runs: it starts anew, and a holder's token goes stale. */
  readonly steal?: boolean;
}

export interface Move extends Target {
  readonly queue: string;
  /** Also while it runs: the holder's token goes stale. */
  readonly steal?: boolean;
}

export interface JobChanges extends Target {
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly runAt?: number;
  readonly name?: string;
  readonly data?: string;
  /** Jobs to wait for, and jobs no longer to wait for; only while it waits or is a draft. */
  readonly dependsOn?: { readonly add?: readonly string[]; readonly remove?: readonly string[] };
  /** For a running job: ask the worker to pause or to go on. */
  readonly pause?: boolean;
  /** Words for the history; nothing else has to change with them. */
  readonly note?: string;
}

export type TargetResult = { readonly ok: true; readonly state: JobState } | Refused;

export interface JobQuery {
  readonly queue?: string;
  readonly state?: JobState;
  readonly label?: Label;
  readonly tag?: string;
  readonly name?: string;
  readonly worker?: string;
  /** Those that wait or waited for this job; those that this job waits or waited for. */
  readonly parent?: string;
  readonly child?: string;
  /** Failure group, of failed jobs. */
  readonly group?: string;
  /** Created in [since, before). */
  readonly since?: number;
  readonly before?: number;
  /**
   * `newest`: latest added first. `claim`: the order in which the waiting jobs of one queue would be claimed now,
   * with only those whose time has come, throttled or not (needs `queue`; a peek).
   */
  readonly order: 'newest' | 'claim';
  /** The `next` of the page before. */
  readonly after?: string;
  readonly limit: number;
}

/** A page may be shorter than its limit and still have a `next`: a search looks at a bounded number of jobs. */
export interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

export type StateCounts = Readonly<Record<JobState, number>>;
/** How many jobs of a queue are in each state. */
export interface QueueCounts extends StateCounts {
  /** The queue. */
  readonly queue: string;
  /** Of the waiting ones: those that wait for other jobs. */
  readonly blocked: number;
  /** Of the others that wait: those whose time has not come. */
  readonly scheduled: number;
  /** Of the done ones: those that were forwarded. */
  readonly relayed: number;
}

/** The failed jobs of a queue with the same failure group. */
export interface FailureGroup {
  /** The queue of the jobs. */
  readonly queue: string;
  /** The label that the failures share. */
  readonly group: string;
  /** How many jobs have failed. */
  readonly count: number;
  /** When the first of them failed. */
  readonly firstAt: number;
  /** When the last of them failed. */
  readonly lastAt: number;
  /** The newest member, as a sample; null when there is none any more. */
  readonly sampleId: string | null;
  /** Null when nothing of it is kept in the statistics. */
  readonly trend: FailureTrend | null;
}

export interface WorkerBeat {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  readonly leaseMs: number;
  /** Anything else to be shown, as JSON text. */
  readonly info: string;
  /** `register` makes it anew; `renew` is refused as `worker-lost` when it is gone. */
  readonly kind: 'register' | 'renew';
}

/** A registered worker. */
export interface WorkerRecord {
  /** Its id. */
  readonly id: string;
  /** The name of its machine. */
  readonly host: string;
  /** Its process id. */
  readonly pid: number;
  /** The queues it works on, in its order. */
  readonly queues: readonly string[];
  /** Further information to show: the JSON text of an object. */
  readonly info: string;
  /** When it registered. */
  readonly registeredAt: number;
  /** When it last renewed its registration. */
  readonly seenAt: number;
  /** When its registration expires. */
  readonly until: number;
  /** Whether it was failed or its registration has expired. */
  readonly isLost: boolean;
  /** Ids of the jobs it runs. */
  readonly running: readonly string[];
}

export interface EndWorker {
  readonly id: string;
  /** `fail` returns its jobs to the front as crashes; `deregister` forgets it and leaves its jobs to their leases. */
  readonly kind: 'fail' | 'deregister';
}
export type EndWorkerResult = { readonly ok: true; readonly returned: number } | Refused;

export interface Maintenance {
  /** At most this many jobs are touched, so that nobody waits long behind it. */
  readonly limit: number;
}
export interface MaintenanceResult {
  readonly overtaken: number;
  readonly expiredDrafts: number;
  readonly pruned: number;
  /** Taken from jobs that are kept. */
  readonly results: number;
  readonly forgottenWorkers: number;
  /** Whether another round would find more at once. */
  readonly more: boolean;
}

export type StoreEventType =
  | HistoryRow['event']
  | 'progress'
  | 'deleted'
  | 'queue'
  | 'freed'
  | 'tracked'
  | 'untracked'
  | 'gap';
/** A change in the store, as listeners receive it. */
export interface StoreEvent {
  /** The kind of change. */
  readonly type: StoreEventType;
  /**
   * Empty for type `queue`, which says that a queue's settings changed, and for `freed`: jobs of the queue that
   * waited for a limit may be claimed. Id and queue are empty for `gap`: the connection was lost, and events of that time
   * are missing. Every listener hears of it, and reads again what it follows.
   */
  readonly id: string;
  /** The queue of the job, or the queue that changed. */
  readonly queue: string;
  /** The state of the job after the change; null where the event concerns no job. */
  readonly state: JobState | null;
}
/** What a store tells its listeners when it listens again after its connection was lost. */
export const GAP_EVENT: StoreEvent = { type: 'gap', id: '', queue: '', state: null };
export type EventListener = (events: readonly StoreEvent[]) => void;
/**
 * What a listener must hear of. `work`: what may be a reason to claim, or concerns whoever runs the job, and settings
 * (`WORK_EVENTS`); a worker that also heard of every job it claims and completes would be kept busy by itself.
 */
export type EventScope = 'all' | 'work';
/** Besides these, every event after which a job waits is about work. */
export const WORK_EVENTS: readonly StoreEventType[] = [
  'cancel-asked',
  'cancelled',
  'changed',
  'lost',
  'moved',
  'requeued',
  'deleted',
  'queue',
  'freed',
];
export type Unsubscribe = () => void;

export interface JobStore {
  add(jobs: readonly NewJob[], options?: CallOptions): Promise<readonly AddResult[]>;
  commit(ids: readonly string[], options?: CallOptions): Promise<readonly TargetResult[]>;
  claim(request: ClaimRequest, options?: CallOptions): Promise<ClaimResult>;
  heartbeat(beats: readonly Heartbeat[], options?: CallOptions): Promise<readonly HeartbeatResult[]>;
  settle(settlements: readonly Settlement[], options?: CallOptions): Promise<readonly SettleResult[]>;
  cancel(targets: readonly Cancel[], options?: CallOptions): Promise<readonly CancelResult[]>;
  requeue(requeues: readonly Requeue[], options?: CallOptions): Promise<readonly TargetResult[]>;
  move(moves: readonly Move[], options?: CallOptions): Promise<readonly TargetResult[]>;
  change(changes: readonly JobChanges[], options?: CallOptions): Promise<readonly TargetResult[]>;
  delete(ids: readonly string[], options?: CallOptions): Promise<readonly TargetResult[]>;

  find(ids: readonly string[], options?: CallOptions): Promise<readonly (Job | null)[]>;
  history(id: string, options?: CallOptions): Promise<readonly HistoryRow[]>;
  list(query: JobQuery, options?: CallOptions): Promise<JobPage>;
  count(queues?: readonly string[], options?: CallOptions): Promise<readonly QueueCounts[]>;
  /** Everything that is worked out of jobs rather than being one: a kind for every question. */
  insight<Asked extends Question>(question: Asked, options?: CallOptions): Promise<AnswerOf<Asked>>;

  keepWorker(beat: WorkerBeat, options?: CallOptions): Promise<{ readonly ok: true; readonly until: number } | Refused>;
  endWorker(end: EndWorker, options?: CallOptions): Promise<EndWorkerResult>;
  workers(options?: CallOptions): Promise<readonly WorkerRecord[]>;
  maintain(maintenance: Maintenance, options?: CallOptions): Promise<MaintenanceResult>;
  /**
   * Hears of every change in the store, whoever makes it, or at least of those in its scope; the net under a lost
   * message is the slow poll.
   */
  subscribe(listener: EventListener, scope?: EventScope): Unsubscribe;
}
