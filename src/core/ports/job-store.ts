// Long because it is the whole port on one page.
/**
 * The JobStore port: its calls are each atomic, each in bulk where it is hot.
 *
 * Every implementation guarantees:
 * - A call returns a result, returns a refusal, or throws. `store-unavailable` means that nothing was done.
 *   `outcome-unknown` means that the reply was lost; the same call may be repeated and gets the first answer.
 * - Invariant: a result array has the order and the length of its input array.
 * - Invariant: within one call, items take effect in their order; across calls, each call is one atomic step.
 * - The clock is the store's. The caller's `now` is used only if the store was opened for it.
 */

import type { HistoryRow } from '../job/history.ts';
import type { Failure, Job, JobPolicy, JobState, UniqueKey } from '../job/job.ts';
import type { Label } from '../job/label.ts';
import type { Step, StepKind } from '../job/step.ts';
import type { WorkerCapacity } from '../limits/resources.ts';
import type { FailureTrend } from '../statistics/failure-trend.ts';
import type { InsightQuery, InsightResultOf } from './insight.ts';
import type { Refused } from './refusal.ts';

export interface CallOptions {
  /** The caller's clock; only in a store opened with `clock: 'caller'`. */
  readonly now?: number;
  /**
   * Only for a store in a file of this machine; others ignore it. `later`: a claim may be answered before it is on the
   * disk, because its attempts end with the calling process. `first`: a read returns nothing that a power cut undoes.
   */
  readonly sync?: 'later' | 'first';
  /** Only for a claim: how long its answer may wait for a job. A store that cannot wait answers at once. */
  readonly wait?: ClaimWait;
}

/**
 * A claim that would get no job waits in the store until it gets one, until `ms` are over or until the signal is aborted.
 * Then it is answered without jobs. It is an ordinary claim, performed when there is a job: its lease begins then.
 */
export interface ClaimWait {
  readonly ms: number;
  readonly signal: WaitSignal;
}

/** What a wait needs of an AbortSignal, which is expensive in Node (docs/decisions/0035-what-v8-compiles.md). */
export interface WaitSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

export interface NewJob {
  readonly id: string;
  readonly queue: string;
  readonly data: string;
  readonly name?: string;
  /** Lower runs first. Default: the queue's priority. */
  readonly priority?: number;
  readonly runAt?: number;
  readonly delayMs?: number;
  readonly tags?: readonly string[];
  readonly policy?: JobPolicy;
  readonly unique?: UniqueKey;
  /** Ids of the jobs that must be done first, including jobs earlier in the same call. */
  readonly dependsOn?: readonly string[];
  /** The effect on a waiting job that holds the unique key. Default: it stays unchanged. */
  readonly onTaken?: OnTaken;
  readonly draft?: boolean;
}

/**
 * `replace`: the waiting job gets the data of the later one. `debounce`: it gets the run time too, but at most
 * `maxWaitMs` after it was added. `follow`: it stays unchanged; the later job waits for its end and takes over the key
 * (webhooks).
 */
export interface OnTaken {
  readonly kind: 'replace' | 'debounce' | 'follow';
  readonly maxWaitMs: number | null;
}

/**
 * `duplicate`: another job holds the unique key, `id` is that job's, and nothing was written. `replaced`: that job was
 * waiting and was changed as `onTaken` requires.
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
  /** In order: jobs of the first queue are taken before the second queue is read. */
  readonly queues: readonly string[];
  readonly limit: number;
  /** Default: the queue's lease. */
  readonly leaseMs?: number;
  /** The worker's capacity, total and free. Without it, the worker gets no job that needs resources. */
  readonly offers?: WorkerCapacity;
  /** A claim repeated with one of the last two request ids of its worker returns the same leases again. */
  readonly requestId: string;
}

export interface ClaimResult {
  readonly jobs: readonly Job[];
  /** The store's time, and the earliest time at which a job of these queues becomes claimable without another call. */
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

interface SettlementBase {
  readonly id: string;
  readonly token: number;
}
/**
 * How an attempt ended. `fail` and `retry` both count a failure; `fail` waits `delayMs` if a retry is left, and `final`
 * forbids a retry. `release` returns the job through no fault of its own. `crash` reports a lost process earlier than
 * the lease would expire. `suspend` ends the lease but not the attempt, which resumes by a later claim.
 *
 * `throttle` pauses that throttle for `delayMs`, for all workers (limits/bucket.ts).
 */
export type Settlement =
  | (SettlementBase & {
      readonly kind: 'complete';
      readonly result?: string;
      readonly data?: string;
      readonly next?: { readonly queue: string; readonly delayMs: number; readonly dependsOn?: readonly string[] };
    })
  | (SettlementBase & {
      readonly kind: 'fail';
      readonly failure: Failure;
      readonly delayMs: number;
      readonly final?: boolean;
    })
  | (SettlementBase & {
      readonly kind: 'retry';
      readonly failure: Failure;
      readonly delayMs: number;
      readonly throttle?: string;
    })
  | (SettlementBase & { readonly kind: 'resend'; readonly delayMs: number; readonly reason: string })
  | (SettlementBase & { readonly kind: 'release'; readonly reason: string })
  | (SettlementBase & { readonly kind: 'crash'; readonly reason: string })
  | (SettlementBase & { readonly kind: 'forward'; readonly address: string })
  | (SettlementBase & {
      readonly kind: 'suspend';
      /** The wake time, or the end of the wait for the event; null for none. */
      readonly until: number | null;
      /** The name of the step of the event. */
      readonly event: string | null;
      /** Ids of jobs to wait for; those that no longer exist are left out. */
      readonly children: readonly string[] | null;
    });
export type SettlementKind = Settlement['kind'];

export type SettleResult = { readonly ok: true; readonly state: JobState } | Refused;

/** A job as its caller saw it. With `attempt`, the call is refused as `moved-on` if the job was claimed since. */
export interface Target {
  readonly id: string;
  readonly attempt?: number;
}

/**
 * A job that others wait for is cancelled only with a decision about them: cancel them too, or leave them to their own
 * rule.
 */
export interface Cancel extends Target {
  readonly dependents?: 'cancel' | 'leave';
}

/** `cancelled`: ended now. `asked`: it runs, and ends when its worker has stopped it or is lost. */
export type CancelResult = { readonly ok: true; readonly outcome: 'cancelled' | 'asked' } | Refused;

export interface Requeue extends Target {
  /** Default: its present queue. */
  readonly queue?: string;
  readonly delayMs?: number;
  /** Allowed also while the job waits or runs: it restarts, and the holder's token becomes stale. */
  readonly steal?: boolean;
  /** Clears checkpoint and steps. Those of a done job are always cleared. */
  readonly fresh?: boolean;
}

export interface Move extends Target {
  readonly queue: string;
  /** Allowed also while the job runs: the holder's token becomes stale. */
  readonly steal?: boolean;
}

export interface JobChanges extends Target {
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly runAt?: number;
  readonly name?: string;
  readonly data?: string;
  /** Dependencies to add and to remove; only while the job waits or is a draft. */
  readonly dependsOn?: { readonly add?: readonly string[]; readonly remove?: readonly string[] };
  /** For a running job: asks the worker to pause or to resume. */
  readonly pause?: boolean;
  /** A note for the history; it needs no other change. */
  readonly note?: string;
}

export type TargetResult = { readonly ok: true; readonly state: JobState } | Refused;

/**
 * Writes a step under the token of the attempt. The answer has the step as it is kept, which is an earlier one if that
 * is done or waits already.
 */
export interface StepWrite {
  readonly id: string;
  readonly token: number;
  readonly kind: StepKind;
  readonly name: string;
  readonly status: 'waiting' | 'done' | 'failed';
  /** JSON text. */
  readonly result?: string;
  readonly failure?: string;
  /** How often its function ran, earlier attempts of the job included. */
  readonly attempts?: number;
  /** How long ago it began. */
  readonly ranMs?: number;
  /** Of a wait: its length from now. */
  readonly delayMs?: number;
}
export type StepResult = { readonly ok: true; readonly step: Step; readonly now: number } | Refused;

/** An event for a job. It is kept until the handler reads it. */
export interface Notify {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly data: string;
}
export const NOTIFY_OUTCOMES = ['kept', 'woken', 'ignored'] as const;
/** `kept`: for a later wait. `woken`: the job waited for it. `ignored`: an earlier event of this name is not read yet. */
export type NotifyOutcome = (typeof NOTIFY_OUTCOMES)[number];
/** What became of an event, and the state of its job; or a refusal. */
export type NotifyResult = { readonly ok: true; readonly outcome: NotifyOutcome; readonly state: JobState } | Refused;

export interface JobQuery {
  readonly queue?: string;
  readonly state?: JobState;
  readonly label?: Label;
  readonly tag?: string;
  readonly name?: string;
  readonly worker?: string;
  /** Children of this job; parents of this job. */
  readonly parent?: string;
  readonly child?: string;
  /** Failure group, of failed jobs. */
  readonly group?: string;
  /** Created in [since, before). */
  readonly since?: number;
  readonly before?: number;
  /**
   * `newest`: latest added first. `claim`: the order in which the waiting jobs of one queue would be claimed now,
   * throttled or not, only those whose run time has come (needs `queue`; a peek).
   */
  readonly order: 'newest' | 'claim';
  /** The `next` of the previous page. */
  readonly after?: string;
  readonly limit: number;
}

/** A page may be shorter than its limit and still have a `next`: a search scans a bounded number of jobs. */
export interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

export type StateCounts = Readonly<Record<JobState, number>>;
/** How many jobs of a queue are in each state. */
export interface QueueCounts extends StateCounts {
  /** The queue. */
  readonly queue: string;
  /** Of the waiting jobs: those that wait for other jobs. */
  readonly blocked: number;
  /** Of the other waiting jobs: those whose run time has not come. */
  readonly scheduled: number;
  /** Of the done jobs: those that were forwarded. */
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
  /** The newest member, as a sample; null if there is none any more. */
  readonly sampleId: string | null;
  /** Null if the statistics keep nothing of the group. */
  readonly trend: FailureTrend | null;
}

export interface WorkerHeartbeat {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  readonly leaseMs: number;
  /** Further information for display, as JSON text. */
  readonly info: string;
  /** `register` creates the registration; `renew` is refused as `worker-lost` if there is none. */
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
  /** `fail` returns its jobs to the front as crashes. `deregister` removes it and leaves its jobs to their leases. */
  readonly kind: 'fail' | 'deregister';
}
export type EndWorkerResult = { readonly ok: true; readonly returned: number } | Refused;

export interface Maintenance {
  /** The maximum number of jobs to change, so that other calls do not wait long. */
  readonly limit: number;
}
export interface MaintenanceResult {
  readonly overtaken: number;
  readonly expiredDrafts: number;
  readonly pruned: number;
  /** Results removed from jobs that are kept. */
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
  | 'adding'
  | 'gap';
/** A change in the store, as listeners receive it. */
export interface StoreEvent {
  /** The kind of change. */
  readonly type: StoreEventType;
  /**
   * Empty for type `queue` (a queue's settings changed) and for `freed` (jobs of the queue that waited for a limit may
   * be claimable). Id and queue are empty for `gap`: the connection was lost, and events of that time are missing.
   * Every listener gets a gap, and reads again what it follows. `adding` is only for workers of the caller's own process:
   * see `addingEvents`.
   */
  readonly id: string;
  /** The queue of the job, or the queue that changed. */
  readonly queue: string;
  /** The state of the job after the change; null where the event concerns no job. */
  readonly state: JobState | null;
}
/** The event that a store emits when it listens again after its connection was lost. */
export const GAP_EVENT: StoreEvent = { type: 'gap', id: '', queue: '', state: null };
export type EventListener = (events: readonly StoreEvent[]) => void;
/**
 * Which events a listener needs. `work`: events that may be a reason to claim, events for the worker that runs the job,
 * and settings (`WORK_EVENTS`). A worker with scope `all` would be kept busy by events of its own claims and
 * completions.
 */
export type EventScope = 'all' | 'work';
/** In addition to these, every event after which a job waits is in scope `work`. */
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
/** Whether an event is in scope `work`. */
export function isWorkEvent({ type, state }: StoreEvent): boolean {
  return state === 'waiting' || type === 'gap' || WORK_EVENTS.includes(type);
}

/** Whether there may be a job to claim: waiting work, an add on its way, or a queue that may have been resumed. */
export function mayBeClaimed({ type, state }: StoreEvent): boolean {
  return state === 'waiting' || type === 'adding' || type === 'queue' || type === 'freed';
}

export type Unsubscribe = () => void;

/**
 * Returns the events for the workers of a client that sends an add: one for each queue in which a job may be claimable.
 * A claim that such a worker sends now follows the add to the store and is answered together with it. The event `added`
 * comes later; it would cost a round trip more.
 */
export function addingEvents(jobs: readonly NewJob[]): readonly StoreEvent[] {
  const queues = new Set<string>();
  for (const { queue, runAt, delayMs = 0, draft = false, dependsOn } of jobs)
    if (runAt === undefined && delayMs === 0 && !draft && dependsOn === undefined) queues.add(queue);
  return Array.from(queues, (queue) => ({ type: 'adding', id: '', queue, state: null }));
}

export interface JobStore {
  add(jobs: readonly NewJob[], options?: CallOptions): Promise<readonly AddResult[]>;
  commit(ids: readonly string[], options?: CallOptions): Promise<readonly TargetResult[]>;
  claim(request: ClaimRequest, options?: CallOptions): Promise<ClaimResult>;
  heartbeat(beats: readonly Heartbeat[], options?: CallOptions): Promise<readonly HeartbeatResult[]>;
  settle(settlements: readonly Settlement[], options?: CallOptions): Promise<readonly SettleResult[]>;
  keepSteps(writes: readonly StepWrite[], options?: CallOptions): Promise<readonly StepResult[]>;
  notify(events: readonly Notify[], options?: CallOptions): Promise<readonly NotifyResult[]>;
  cancel(targets: readonly Cancel[], options?: CallOptions): Promise<readonly CancelResult[]>;
  requeue(requeues: readonly Requeue[], options?: CallOptions): Promise<readonly TargetResult[]>;
  move(moves: readonly Move[], options?: CallOptions): Promise<readonly TargetResult[]>;
  change(changes: readonly JobChanges[], options?: CallOptions): Promise<readonly TargetResult[]>;
  delete(ids: readonly string[], options?: CallOptions): Promise<readonly TargetResult[]>;

  find(ids: readonly string[], options?: CallOptions): Promise<readonly (Job | null)[]>;
  history(id: string, options?: CallOptions): Promise<readonly HistoryRow[]>;
  steps(id: string, options?: CallOptions): Promise<readonly Step[]>;
  list(query: JobQuery, options?: CallOptions): Promise<JobPage>;
  count(queues?: readonly string[], options?: CallOptions): Promise<readonly QueueCounts[]>;
  /** Returns information computed from jobs: one kind for each query (insight.ts). */
  insight<Asked extends InsightQuery>(question: Asked, options?: CallOptions): Promise<InsightResultOf<Asked>>;

  keepWorker(
    beat: WorkerHeartbeat,
    options?: CallOptions,
  ): Promise<{ readonly ok: true; readonly until: number } | Refused>;
  endWorker(end: EndWorker, options?: CallOptions): Promise<EndWorkerResult>;
  workers(options?: CallOptions): Promise<readonly WorkerRecord[]>;
  maintain(maintenance: Maintenance, options?: CallOptions): Promise<MaintenanceResult>;
  /**
   * Subscribes to every change in the store by any client, or at least to those in scope. A slow poll covers lost
   * messages. The subscription is in effect when a later call of the same client is answered.
   */
  subscribe(listener: EventListener, scope?: EventScope): Unsubscribe;
}
