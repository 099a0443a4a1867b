/**
 * What the operations need of a store that can answer at once: rows in maps (memory) or in SQL (sqlite).
 *
 * Invariant: a table decides nothing. It finds, keeps and orders; `lifecycle.ts` decides what becomes of a job,
 * and `operations/` says which jobs are asked.
 */

import type { HistoryRow } from '../job/history.ts';
import type { EndedState, Job, JobState, RunningJob } from '../job/job.ts';
import type { ClockStep } from '../lifecycle/clock.ts';
import type { QueueSettings } from '../settings/settings.ts';
import type { LivingGroup } from '../statistics/failure-trend.ts';
import type { SeriesPage, Span } from '../statistics/series.ts';
import type { Measurement, StoredCell } from '../statistics/statistics.ts';
import type { Held, QueueStorage } from '../statistics/storage.ts';
import type { TagCount } from './insight.ts';
import type { JobQuery, QueueCounts, StoreEvent } from './job-store.ts';

export interface LastClaim {
  readonly requestId: string;
  readonly at: number;
  readonly leases: readonly { readonly id: string; readonly token: number }[];
}

/** Open: the child waits for the parent. Closed: it did. */
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
  /** How many jobs are looked at, in whatever state. */
  readonly limit: number;
  readonly now: number;
}

export interface Table {
  get(id: string): Job | undefined;
  rows(id: string): readonly HistoryRow[];
  insert(job: Job, row: HistoryRow): void;
  /** `row` null: a heartbeat, which is no history. */
  replace(before: Job, after: Job, row: HistoryRow | null): void;
  /** A row that changes nothing but the history. */
  append(job: Job, row: HistoryRow): void;
  remove(job: Job): void;
  /** The step of the clock after which not all jobs were looked at yet. */
  clockStep(): ClockStep | null;
  setClockStep(step: ClockStep | null): void;
  /** Of the next jobs by insertion: which wait for a later time, and where to go on; null at the end. */
  waitingLater(page: LaterPage): { readonly ids: readonly string[]; readonly afterSeq: number | null };
  takeSeq(): number;
  takeToken(): number;

  settings(queue: string): QueueSettings;
  /** Why nothing may change but attempts that run: see core/ports/migration.ts. Null in every ordinary store. */
  closed(): string | null;
  /** Every queue that has or had a job. */
  queues(): readonly string[];

  /**
   * Waiting jobs whose time has come, in the order of claims. `forClaim` leaves out those that are parked and may
   * reorganise indexes, a peek may not.
   */
  ready(queue: string, now: number, page: { limit: number; offset: number; forClaim: boolean }): readonly Job[];
  /** Running jobs whose lease ends at or before `until`, earliest end first. */
  leasesUntil(queue: string, until: number, limit: number): readonly RunningJob[];
  allRunning(): readonly RunningJob[];
  /** The soonest runAt after `now` among the waiting, and the soonest lease's end among the running. */
  nextRunAt(queue: string, now: number): number | null;
  nextLeaseEnd(queue: string): number | null;

  /** Waiting jobs of a queue that have this `coalesceKey` and whose time has come, by time, then by insertion. */
  equals(queue: string, key: string, due: { readonly now: number; readonly limit: number }): readonly Job[];
  /** Those that wait for the end of this job, into which they are folded; by insertion. */
  foldedInto(id: string): readonly Job[];

  /** How many jobs of a queue run. */
  running(queue: string): number;

  /** The maximum of a named throttle; null where nobody set one. */
  throttleMax(name: string): number | null;
  /** How many jobs hold a slot of it, by their `slots`. */
  held(address: string): number;
  /**
   * Takes a waiting job out of what `ready` gives to claims, until it is unparked or changed: the throttle has no slot
   * for it. Nobody sees the difference but by what claims find.
   */
  park(job: Job, address: string): void;
  /** The queues that have jobs parked under a throttle. */
  parkedQueues(address: string): readonly string[];
  parkedCount(address: string): number;
  /**
   * The addresses by needs (needs.ts) under which jobs of a queue are parked: at most MOST_NEEDS of them, and where
   * there are more others with every look, so that all are seen in time.
   */
  parkedNeeds(queue: string, look: number): readonly string[];
  /** The first of those that are parked there, in the order of claims. */
  firstParked(address: string, queue: string): Job | undefined;
  /** The first of them in the order of claims go back. Returns how many. */
  unpark(address: string, queue: string, limit: number): number;

  /** The turn that a queue has come to, and the last that a key of it was given; 0 where there is none. */
  turnServed(queue: string): number;
  lastTurn(queue: string, key: string): number;
  /** Turns that were served may be forgotten. */
  serveTurn(queue: string, turn: number): void;
  giveTurn(queue: string, key: string, turn: number): void;
  /** What rate.ts remembers of a queue; 0 where nothing. */
  rateAt(queue: string): number;
  setRateAt(queue: string, at: number): void;

  /** Who holds a key, at this time. */
  keyHolder(address: string, now: number): string | undefined;
  takeKey(address: string, id: string, until: number | null): void;
  /** Only if this job holds it. */
  releaseKey(address: string, id: string): void;

  /** The jobs with an open edge from this one, by insertion; also when this one has just been removed. */
  openChildren(parent: Job): readonly Job[];
  openParents(child: Job): readonly Job[];
  edge(parent: Job, child: Job): Edge | null;
  setEdge(parent: Job, child: Job, edge: Edge | null): void;
  /** All that lead to this child. Those that lead from it belong to its children. */
  removeEdges(child: Job): void;

  lastClaim(worker: string): LastClaim | undefined;
  rememberClaim(worker: string, claim: LastClaim): void;
  worker(id: string): WorkerRow | undefined;
  putWorker(worker: WorkerRow): void;
  /** Forgets its last claim too. */
  removeWorker(id: string): void;
  workers(): readonly WorkerRow[];

  /** Jobs of a query by insertion number, newest first, below `belowSeq`; may ignore `label`, which the operation checks. */
  scan(query: JobQuery, belowSeq: number, limit: number): readonly Job[];
  count(queue: string, now: number): QueueCounts;
  failures(queue: string): readonly LivingGroup[];
  /** What its ended jobs take up. */
  storage(queue: string): QueueStorage;
  /** Those that most jobs have, the most frequent first, then by name. */
  topTags(limit: number): readonly TagCount[];
  /** Drafts created before `time`, and ended jobs of a state that ended before it; the oldest first. */
  draftsBefore(time: number, limit: number): readonly Job[];
  /** How many of them there are in a queue, drafts or ended ones of a state. */
  countBefore(queue: string, state: JobState, time: number): number;
  endedBefore(queue: string, state: JobState, time: number, limit: number): readonly Job[];
  /** Ended jobs of a state beyond the `count` that ended last; the oldest first. */
  endedBeyond(queue: string, state: JobState, count: number, limit: number): readonly Job[];
  /** Ended jobs of a state, those that ended first; and done ones that have a result. From an end on, that among them. */
  oldestEnded(queue: string, state: EndedState, page: { from: number; limit: number }): readonly Job[];
  oldestResults(queue: string, page: { from: number; limit: number }): readonly Job[];
  /** Where results begin: no done job that ended before has one, unless the clock went back. 0 where nobody said. */
  resultsFrom(queue: string): number;
  setResultsFrom(queue: string, endedAt: number): void;

  /** Counts it in the cells it belongs to, and what it ended in the series. */
  measure(measurement: Measurement): void;
  /** The cells of the days from..to, both among them; by day, then by kind and name. */
  statistics(queue: string, from: number, to: number): readonly StoredCell[];
  /** The pages of a queue's throughput over time from one on, in any order. */
  series(queue: string, span: Span, first: number): readonly SeriesPage[];
  /** The cells before a day, in numbers and in bytes as they are kept. */
  statisticsBefore(queue: string, day: number): Held;
  /** Forgets the cells before a day and the histograms before another, at most so many of each. */
  forgetStatistics(queue: string, kept: { day: number; histogramDay: number }, limit: number): void;

  emit(event: StoreEvent): void;
}
