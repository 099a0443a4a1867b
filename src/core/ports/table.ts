/**
 * The synchronous storage that the operations need: rows in maps (memory) or in SQL (SQLite).
 *
 * Invariant: a table decides nothing. It finds, stores and orders; `lifecycle.ts` decides what becomes of a job, and
 * `operations/` chooses the jobs.
 */

import type { HistoryRow } from '../job/history.ts';
import type { EndedState, Job, JobState, RunningJob } from '../job/job.ts';
import type { Step, StepKind } from '../job/step.ts';
import type { ClockStep } from '../lifecycle/clock.ts';
import type { PlainJob, Transition } from '../lifecycle/lifecycle.ts';
import type { BucketState, Throttle } from '../limits/bucket.ts';
import type { QueueSettings } from '../settings/settings.ts';
import type { CurrentFailureGroup } from '../statistics/failure-trend.ts';
import type { SeriesPage, Span } from '../statistics/series.ts';
import type { Measurement, StoredCell } from '../statistics/statistics.ts';
import type { QueueStorage, StoredSize } from '../statistics/storage.ts';
import type { TagCount } from './insight.ts';
import type { JobQuery, QueueCounts, StoreEvent } from './job-store.ts';

/** How many claims of a worker a store remembers: a worker has at most as many in flight. */
export const MAX_REMEMBERED_CLAIMS = 2;

export interface ClaimedLease {
  readonly id: string;
  readonly token: number;
}

/** A claim that got jobs, for the case that it is repeated. */
export interface RememberedClaim {
  readonly requestId: string;
  readonly leases: readonly ClaimedLease[];
}

/** Open: the child waits for the parent. Closed: it no longer does. */
export type Edge = 'open' | 'closed';

export interface WorkerRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly queues: readonly string[];
  readonly info: string;
  readonly registeredAt: number;
  readonly seenAt: number;
  readonly until: number;
}

export interface LaterPage {
  readonly afterSeq: number;
  /** How many jobs are scanned, in any state. */
  readonly limit: number;
  readonly now: number;
}

export interface Table {
  get(id: string): Job | undefined;
  rows(id: string): readonly HistoryRow[];
  insert(job: Job, row: HistoryRow): void;
  /** Inserts `createdLike(template, job, takeSeq())`. */
  insertLike(template: Transition, job: PlainJob): void;
  /** `row` is null for a heartbeat, which is not history. */
  replace(before: Job, after: Job, row: HistoryRow | null): void;
  /**
   * Replaces a job as `replace(before, change.job, change.row)`. `like`: a change that was applied in this call to a job
   * that differed only in id, data, number, priority, times and token (operations/alike.ts).
   */
  replaceLike(like: Transition, before: Job, change: Transition): void;
  /** Appends a row that changes only the history. */
  append(job: Job, row: HistoryRow): void;
  /** Removes its steps too. */
  remove(job: Job): void;
  /** The steps of a job, by their number. The job's record has their sums. */
  steps(job: Job): readonly Step[];
  step(job: Job, kind: StepKind, name: string): Step | undefined;
  putStep(job: Job, step: Step): void;
  clearSteps(job: Job): void;
  /** The step of the clock after which not all jobs are rebased yet. */
  clockStep(): ClockStep | null;
  setClockStep(step: ClockStep | null): void;
  /**
   * Scans the next jobs by insertion. Returns those that wait for a later time, and where to continue; null at the end.
   */
  waitingLater(page: LaterPage): { readonly ids: readonly string[]; readonly afterSeq: number | null };
  takeSeq(): number;
  takeToken(): number;

  settings(queue: string): QueueSettings;
  /** Why only running attempts may change: see ports/migration.ts. Null in an ordinary store. */
  closed(): string | null;
  /** Every queue that has or had a job. */
  queues(): readonly string[];

  /**
   * Waiting jobs whose run time has come, in claim order. `forClaim` leaves out parked jobs and may reorganise indexes;
   * a peek may not.
   */
  ready(queue: string, now: number, page: { limit: number; offset: number; forClaim: boolean }): readonly Job[];
  /** Running jobs whose lease ends at or before `until`, earliest end first. */
  leasesUntil(queue: string, until: number, limit: number): readonly RunningJob[];
  allRunning(): readonly RunningJob[];
  /** The earliest runAt after `now` of the waiting jobs, and the earliest lease end of the running jobs. */
  nextRunAt(queue: string, now: number): number | null;
  nextLeaseEnd(queue: string): number | null;

  /** Waiting jobs of a queue with this `coalesceKey` whose run time has come, by run time, then by insertion. */
  equals(queue: string, key: string, due: { readonly now: number; readonly limit: number }): readonly Job[];
  /** The jobs that are coalesced into this job and wait for its end, by insertion. */
  foldedInto(id: string): readonly Job[];

  /** How many jobs of a queue run. */
  running(queue: string): number;

  /** The settings of a named throttle. */
  throttle(name: string): Throttle;
  /** How many jobs hold a slot of it, by their `slots`. */
  held(address: string): number;
  /**
   * Hides a waiting job from the claims of `ready` until it is unparked or changed: the throttle has no slot for it.
   * Only claims see the difference.
   */
  park(job: Job, address: string): void;
  /** The queues that have jobs parked under a throttle. */
  parkedQueues(address: string): readonly string[];
  parkedCount(address: string): number;
  /**
   * The addresses by needs (limits/resources.ts) under which jobs of a queue are parked: at most MAX_NEEDS of them. If
   * there are more, each rotation returns others, so that all are reached in time.
   */
  parkedNeeds(queue: string, rotation: number): readonly string[];
  /** The first job parked there, in claim order. */
  firstParked(address: string, queue: string): Job | undefined;
  /** Unparks the first of them, in claim order. Returns how many. */
  unpark(address: string, queue: string, limit: number): number;

  /** The state of a bucket of a throttle (limits/bucket.ts). */
  bucket(address: string): BucketState | undefined;
  setBucket(address: string, state: BucketState): void;
  /** Addresses of buckets that are not full or not open at `now`, in order. */
  busyBuckets(now: number, limit: number): readonly string[];
  /** Counts the times of buckets that were written after `now` from now, and sets all later wake times to now. */
  rebaseBuckets(now: number): void;
  /** Deletes buckets that are full and open since before `time`. */
  forgetBuckets(time: number, limit: number): void;
  /**
   * When the jobs that are parked under a bucket (`bucketPark`) may be claimable. It is set whenever one is parked, and
   * may outlive them; null deletes it.
   */
  setWake(queue: string, park: string, at: number | null): void;
  /** The parks of a queue whose time has come, earliest first. */
  wakes(queue: string, now: number, limit: number): readonly string[];
  /** The parks of a throttle in all queues. */
  wakesOf(name: string): readonly (readonly [queue: string, park: string])[];
  /** The first wake time of a queue after `now`. */
  nextWake(queue: string, now: number): number | null;

  /** The turn that a queue has reached, and the last turn given to a key; 0 if there is none. */
  turnServed(queue: string): number;
  lastTurn(queue: string, key: string): number;
  /** Turns that were served may be deleted. */
  serveTurn(queue: string, turn: number): void;
  giveTurn(queue: string, key: string, turn: number): void;
  /** The state of limits/rate.ts for a queue; 0 if there is none. */
  rateAt(queue: string): number;
  setRateAt(queue: string, at: number): void;

  /** The job that holds a key at this time. */
  keyHolder(address: string, now: number): string | undefined;
  takeKey(address: string, id: string, until: number | null): void;
  /** Releases the key only if this job holds it. */
  releaseKey(address: string, id: string): void;

  /** The jobs with an open edge from this one, by insertion; also if this one was just removed. */
  openChildren(parent: Job): readonly Job[];
  openParents(child: Job): readonly Job[];
  edge(parent: Job, child: Job): Edge | null;
  setEdge(parent: Job, child: Job, edge: Edge | null): void;
  /** Removes all edges to this child. The edges from it belong to its children. */
  removeEdges(child: Job): void;

  /** The leases of a remembered claim; at least those that are still held. Undefined if it is not remembered. */
  leasesOfClaim(worker: string, requestId: string): readonly ClaimedLease[] | undefined;
  /** Remembers a claim in place of the oldest of MAX_REMEMBERED_CLAIMS. */
  rememberClaim(worker: string, claim: RememberedClaim, at: number): void;
  worker(id: string): WorkerRow | undefined;
  putWorker(worker: WorkerRow): void;
  /** Deletes its remembered claims too. */
  removeWorker(id: string): void;
  workers(): readonly WorkerRow[];

  /**
   * Jobs of a query by insertion number, newest first, below `belowSeq`. May ignore `label`, which the operation
   * checks.
   */
  scan(query: JobQuery, belowSeq: number, limit: number): readonly Job[];
  count(queue: string, now: number): QueueCounts;
  failures(queue: string): readonly CurrentFailureGroup[];
  /** The size of the queue's ended jobs. */
  storage(queue: string): QueueStorage;
  /** The tags of most jobs, the most frequent first, then by name. */
  topTags(limit: number): readonly TagCount[];
  /** Drafts created before `time`, and ended jobs of a state that ended before it; oldest first. */
  draftsBefore(time: number, limit: number): readonly Job[];
  /** How many there are in a queue: drafts, or ended jobs of a state. */
  countBefore(queue: string, state: JobState, time: number): number;
  endedBefore(queue: string, state: JobState, time: number, limit: number): readonly Job[];
  /** Ended jobs of a state beyond the `count` that ended last; oldest first. */
  endedBeyond(queue: string, state: JobState, count: number, limit: number): readonly Job[];
  /** Ended jobs of a state, and done jobs that have a result; oldest end first, ended at `from` or later. */
  oldestEnded(queue: string, state: EndedState, page: { from: number; limit: number }): readonly Job[];
  oldestResults(queue: string, page: { from: number; limit: number }): readonly Job[];
  /** Where results begin: no done job that ended before has one, unless the clock went back. 0 if unknown. */
  resultsFrom(queue: string): number;
  setResultsFrom(queue: string, endedAt: number): void;

  /** Counts the measurement in its cells, and an end in the series. */
  measure(measurement: Measurement): void;
  /** The cells of the days from..to, both included; by day, then by kind and name. */
  statistics(queue: string, from: number, to: number): readonly StoredCell[];
  /** The pages of a queue's throughput from `first` on, in any order. */
  series(queue: string, span: Span, first: number): readonly SeriesPage[];
  /** The cells before a day: their number and their bytes as stored. */
  statisticsBefore(queue: string, day: number): StoredSize;
  /** Deletes the cells before a day and the histograms before another, at most `limit` of each. */
  forgetStatistics(queue: string, kept: { day: number; histogramDay: number }, limit: number): void;

  emit(event: StoreEvent): void;
}
