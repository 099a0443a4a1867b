// Long because the operations use the table as one object; most methods delegate to a part.
/**
 * The table of the SQLite store: implements what the operations of the core need, composed of parts.
 *
 * Invariant: it decides nothing and opens no transaction. The caller has one open, and calls `save` before the commit or
 * `forget` after a rollback.
 */

import type { HistoryRow } from '../../../core/job/history.ts';
import type { EndedState, Job, JobState, RunningJob } from '../../../core/job/job.ts';
import type { Step, StepKind } from '../../../core/job/step.ts';
import type { ClockMemory, ClockStep } from '../../../core/lifecycle/clock.ts';
import type { PlainJob, Transition } from '../../../core/lifecycle/lifecycle.ts';
import { keyAddress } from '../../../core/lifecycle/lifecycle.ts';
import type { BucketState, Throttle } from '../../../core/limits/bucket.ts';
import type { TagCount } from '../../../core/ports/insight.ts';
import type { JobQuery, QueueCounts, StoreEvent } from '../../../core/ports/job-store.ts';
import type { MigratedJob } from '../../../core/ports/migration.ts';
import type { ClaimedLease, Edge, LaterPage, RememberedClaim, Table, WorkerRow } from '../../../core/ports/table.ts';
import type { QueueSettings } from '../../../core/settings/settings.ts';
import type { CurrentFailureGroup } from '../../../core/statistics/failure-trend.ts';
import type { SeriesPage, Span } from '../../../core/statistics/series.ts';
import type { Measurement, StoredCell } from '../../../core/statistics/statistics.ts';
import { type QueueStorage, type StoredSize, storageOf } from '../../../core/statistics/storage.ts';
import { BucketRows } from '../bucket-rows.ts';
import type { Database } from '../engine/sqlite-database.ts';
import { flushingFirst } from '../row-batches.ts';
import { StepRows } from '../step-rows.ts';
import { CoalescedRows } from './coalesced-rows.ts';
import { EndedJobs } from './ended-jobs.ts';
import { JobEdges } from './job-edges.ts';
import { JobRows } from './job-rows.ts';
import { JobSearch } from './job-search.ts';
import { LeasedJobs } from './leased-jobs.ts';
import { PaceRows } from './pace-rows.ts';
import { QueueCounters } from './queue-counters.ts';
import { SeriesRows } from './series-rows.ts';
import { StatisticsLog } from './statistics-log.ts';
import { dayOfEntry, StatisticsRows } from './statistics-rows.ts';
import type { StoreNumbers } from './store-numbers.ts';
import { ThrottleRows } from './throttle-rows.ts';
import { UniqueKeys } from './unique-keys.ts';
import { WaitingJobs } from './waiting-jobs.ts';
import { WorkerRows } from './worker-rows.ts';

export interface SqliteTableOptions {
  readonly numbers: StoreNumbers;
  settings(queue: string): QueueSettings;
  throttle(name: string): Throttle;
  closed(): string | null;
  emit(event: StoreEvent): void;
}

export class SqliteTable implements Table {
  readonly settings: (queue: string) => QueueSettings;
  readonly throttle: (name: string) => Throttle;
  readonly closed: () => string | null;
  readonly emit: (event: StoreEvent) => void;
  readonly #numbers: StoreNumbers;
  readonly #jobs: JobRows;
  readonly #counters: QueueCounters;
  readonly #waiting: WaitingJobs;
  readonly #leased: LeasedJobs;
  readonly #ended: EndedJobs;
  readonly #search: JobSearch;
  readonly #log: StatisticsLog;
  readonly #statistics: StatisticsRows;
  readonly #series: SeriesRows;
  readonly #steps: StepRows;
  readonly #edges: JobEdges;
  readonly #coalesced: CoalescedRows;
  readonly #keys: UniqueKeys;
  readonly #throttles: ThrottleRows;
  readonly #paces: PaceRows;
  readonly #buckets: BucketRows;
  readonly #workers: WorkerRows;

  constructor(db: Database, { numbers, settings, throttle, closed, emit }: SqliteTableOptions) {
    this.settings = settings;
    this.throttle = throttle;
    this.closed = closed;
    this.emit = emit;
    this.#numbers = numbers;
    this.#jobs = new JobRows(db);
    const flushing = flushingFirst(db, () => this.#jobs.flush());
    this.#counters = new QueueCounters(flushing);
    this.#waiting = new WaitingJobs(flushing, numbers);
    this.#leased = new LeasedJobs(flushing);
    this.#ended = new EndedJobs(flushing, this.#counters);
    this.#search = new JobSearch(flushing, this.#counters);
    this.#log = new StatisticsLog(flushing);
    this.#statistics = new StatisticsRows(flushing);
    this.#series = new SeriesRows(flushing);
    this.#steps = new StepRows(flushing);
    this.#edges = new JobEdges(flushing);
    this.#coalesced = new CoalescedRows(flushing);
    this.#keys = new UniqueKeys(flushing);
    this.#throttles = new ThrottleRows(flushing);
    this.#paces = new PaceRows(flushing);
    this.#buckets = new BucketRows(flushing);
    this.#workers = new WorkerRows(flushing);
  }

  /** Writes the rows that are pending (row-batches.ts). */
  flush(): void {
    this.#jobs.flush();
  }

  /** Runs a call and writes the rows that it left pending. */
  flushing<T>(call: () => T): T {
    const answer = call();
    this.#jobs.flush();
    return answer;
  }

  /** Writes the pending sums. Called last before a commit. */
  save(clock: ClockMemory): void {
    this.#counters.save();
    if (this.#log.save()) this.aggregateStatistics();
    this.#numbers.save(clock);
  }

  /** Drops the caches: another engine wrote, or the transaction was rolled back. */
  forget(): void {
    this.#counters.forget();
    this.#log.forget();
    this.#forgetRows();
  }

  #forgetRows(): void {
    this.#jobs.forget();
    this.#waiting.forget();
    this.#leased.forget();
    this.#throttles.forget();
    this.#buckets.forgetWakes();
    this.#workers.forget();
  }

  /** Called before a savepoint. Returns a function that restores the pending sums after a rollback to it. */
  snapshot(): () => void {
    this.#jobs.flush();
    const [restoreCounts, restoreStatistics] = [this.#counters.snapshot(), this.#log.snapshot()];
    return () => {
      this.#forgetRows();
      restoreCounts();
      restoreStatistics();
    };
  }

  /** Runs an add of plain jobs without a query for their ids. Throws if one of them exists; then the add must be repeated. */
  presumingNew<T>(add: () => T): T {
    return this.#jobs.presumingNew(add);
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  rows(id: string): readonly HistoryRow[] {
    return this.#jobs.history(id);
  }

  insert(job: Job, row: HistoryRow): void {
    this.#numbers.readyAt(row.at);
    this.#jobs.insert(job, row);
    this.#waiting.follow(null, job, row);
    this.#coalesced.update(null, job);
    this.#counters.add(job);
  }

  insertLike(template: Transition, input: PlainJob): void {
    const { job, row } = template;
    this.#numbers.readyAt(row.at);
    this.#jobs.insertLike(template, input, this.#numbers.takeSeq());
    this.#waiting.follow(null, job, row);
    this.#counters.add(job);
  }

  replace(before: Job, after: Job, row: HistoryRow | null): void {
    if (row !== null) this.#numbers.readyAt(row.at);
    this.#jobs.update(before, after, row);
    this.#waiting.follow(before, after, row);
    this.#leased.follow(after);
    this.#coalesced.update(before, after);
    if (before.slots !== after.slots) this.#throttles.updateSlots(before.slots, after.slots, after.seq);
    this.#counters.replace(before, after);
  }

  replaceLike(like: Transition, before: Job, change: Transition): void {
    this.#jobs.updateLike(like, before, change);
    this.#waiting.follow(before, change.job, change.row);
    this.#counters.replace(before, change.job);
  }

  append(job: Job, row: HistoryRow): void {
    this.#jobs.append(job, row);
  }

  remove(job: Job): void {
    this.#jobs.remove(job);
    this.#waiting.follow(job, null, null);
    this.#coalesced.update(job, null);
    this.#counters.remove(job);
    if (job.steps !== null) this.#steps.remove(job);
  }

  steps(job: Job): readonly Step[] {
    return this.#steps.of(job);
  }

  step(job: Job, kind: StepKind, name: string): Step | undefined {
    return job.steps === null ? undefined : this.#steps.get(job, kind, name);
  }

  putStep(job: Job, step: Step): void {
    this.#steps.put(job, step);
  }

  clearSteps(job: Job): void {
    this.#steps.remove(job);
  }

  /** Writes a job as another store had it, and replaces an earlier version of it. */
  restore({ job, history, steps, parents, holds }: MigratedJob, now: number): void {
    const known = this.get(job.id);
    const address = (of: Job) => (of.unique === null ? '' : keyAddress(of.unique, of.queue));
    if (known !== undefined) {
      this.remove(known);
      this.removeEdges(known);
      this.releaseKey(address(known), known.id);
    }
    this.#numbers.readyAt(now);
    this.#jobs.restore(job, history, now);
    this.#forgetRows();
    this.#counters.add(job);
    this.#coalesced.update(null, job);
    for (const step of steps) this.#steps.put(job, step);
    for (const { seq, isOpen } of parents) this.#edges.set({ seq }, job, isOpen ? 'open' : 'closed');
    if (holds !== null) this.takeKey(address(job), job.id, holds.until);
  }

  addQueue(queue: string): void {
    this.#counters.addQueue(queue);
  }

  clockStep(): ClockStep | null {
    return this.#numbers.clockStep;
  }

  setClockStep(step: ClockStep | null): void {
    this.#numbers.clockStep = step;
  }

  waitingLater(page: LaterPage): { ids: readonly string[]; afterSeq: number | null } {
    return this.#waiting.laterAmong(page);
  }

  takeSeq(): number {
    return this.#numbers.takeSeq();
  }

  takeToken(): number {
    return this.#numbers.takeToken();
  }

  queues(): readonly string[] {
    return this.#counters.queues();
  }

  ready(queue: string, now: number, page: { limit: number; offset: number; forClaim: boolean }): readonly Job[] {
    return page.forClaim ? this.#waiting.forClaim(queue, now, page.limit) : this.#waiting.peek(queue, now, page);
  }

  leasesUntil(queue: string, until: number, limit: number): readonly RunningJob[] {
    return this.#leased.until(queue, until, limit);
  }

  allRunning(): readonly RunningJob[] {
    return this.#leased.all();
  }

  nextRunAt(queue: string, now: number): number | null {
    return this.#waiting.nextRunAt(queue, now);
  }

  nextLeaseEnd(queue: string): number | null {
    return this.#leased.nextEnd(queue);
  }

  equals(queue: string, key: string, due: { now: number; limit: number }): readonly Job[] {
    return this.#coalesced.equals(queue, key, due);
  }

  foldedInto(id: string): readonly Job[] {
    return this.#coalesced.into(id);
  }

  running(queue: string): number {
    return this.#counters.of(queue).running;
  }

  held(address: string): number {
    return this.#throttles.held(address);
  }

  park(job: Job, address: string): void {
    this.#throttles.park(job, address);
  }

  parkedQueues(address: string): readonly string[] {
    return this.#throttles.queues(address);
  }

  parkedCount(address: string): number {
    return this.#throttles.count(address);
  }

  parkedNeeds(queue: string, claim: number): readonly string[] {
    return this.#throttles.needs(queue, claim);
  }

  firstParked(address: string, queue: string): Job | undefined {
    return this.#throttles.firstJob(address, queue);
  }

  unpark(address: string, queue: string, limit: number): number {
    this.#waiting.followUnparked();
    return this.#throttles.unpark(address, queue, limit);
  }

  /** Called when a queue's settings changed: its parked jobs may be claimable now, and state of removed limits is dropped. */
  queueChanged(queue: string): void {
    const { keys, rate } = this.settings(queue);
    this.#waiting.followUnparked();
    this.#throttles.unparkAll(queue);
    if (keys === null) this.#paces.forgetTurns(queue);
    if (rate === null) this.#paces.setRateAt(queue, 0);
  }

  bucket(address: string): BucketState | undefined {
    return this.#buckets.get(address);
  }

  setBucket(address: string, state: BucketState): void {
    this.#buckets.set(address, state);
  }

  busyBuckets(now: number, limit: number): readonly string[] {
    return this.#buckets.busy(now, limit);
  }

  rebaseBuckets(now: number): void {
    this.#buckets.rebase(now);
  }

  forgetBuckets(time: number, limit: number): void {
    this.#buckets.forget(time, limit);
  }

  setWake(queue: string, park: string, at: number | null): void {
    this.#buckets.setWake(queue, park, at);
  }

  wakes(queue: string, now: number, limit: number): readonly string[] {
    return this.#buckets.wakes(queue, now, limit);
  }

  wakesOf(name: string): readonly (readonly [string, string])[] {
    return this.#buckets.wakesOf(name);
  }

  nextWake(queue: string, now: number): number | null {
    return this.#buckets.nextWake(queue, now);
  }

  turnServed(queue: string): number {
    return this.#paces.served(queue);
  }

  lastTurn(queue: string, key: string): number {
    return this.#paces.last(queue, key);
  }

  serveTurn(queue: string, turn: number): void {
    this.#paces.serve(queue, turn);
  }

  giveTurn(queue: string, key: string, turn: number): void {
    this.#paces.give(queue, key, turn);
  }

  rateAt(queue: string): number {
    return this.#paces.rateAt(queue);
  }

  setRateAt(queue: string, at: number): void {
    this.#paces.setRateAt(queue, at);
  }

  keyHolder(address: string, now: number): string | undefined {
    return this.#keys.holder(address, now);
  }

  takeKey(address: string, id: string, until: number | null): void {
    this.#keys.take(address, id, until);
  }

  releaseKey(address: string, id: string): void {
    this.#keys.release(address, id);
  }

  openChildren(parent: Job): readonly Job[] {
    return this.#edges.openChildren(parent);
  }

  openParents(child: Job): readonly Job[] {
    return this.#edges.openParents(child);
  }

  edge(parent: Job, child: Job): Edge | null {
    return this.#edges.get(parent, child);
  }

  setEdge(parent: Job, child: Job, edge: Edge | null): void {
    this.#edges.set(parent, child, edge);
  }

  removeEdges(child: Job): void {
    this.#edges.remove(child);
  }

  leasesOfClaim(worker: string, requestId: string): readonly ClaimedLease[] | undefined {
    return this.#workers.leasesOfClaim(worker, requestId);
  }

  rememberClaim(worker: string, claim: RememberedClaim, at: number): void {
    this.#workers.rememberClaim(worker, claim, at);
  }

  forgetUnregisteredWorkers(until: number): void {
    this.#workers.forgetUnregisteredWorkers(until);
  }

  worker(id: string): WorkerRow | undefined {
    return this.#workers.get(id);
  }

  putWorker(worker: WorkerRow): void {
    this.#workers.put(worker);
  }

  removeWorker(id: string): void {
    this.#workers.remove(id);
  }

  workers(): readonly WorkerRow[] {
    return this.#workers.all();
  }

  scan(query: JobQuery, belowSeq: number, limit: number): readonly Job[] {
    return this.#search.scan(query, belowSeq, limit);
  }

  count(queue: string, now: number): QueueCounts {
    return { ...this.#counters.of(queue), queue, scheduled: this.#waiting.countLater(queue, now) };
  }

  storage(queue: string): QueueStorage {
    return storageOf(queue, this.#counters.of(queue), this.#counters.kept(queue));
  }

  topTags(limit: number): readonly TagCount[] {
    return this.#search.topTags(limit);
  }

  failures(queue: string): readonly CurrentFailureGroup[] {
    return this.#ended.failures(queue);
  }

  draftsBefore(time: number, limit: number): readonly Job[] {
    return this.#ended.draftsBefore(time, limit);
  }

  countBefore(queue: string, state: JobState, time: number): number {
    return this.#ended.countBefore(queue, state, time);
  }

  endedBefore(queue: string, state: JobState, time: number, limit: number): readonly Job[] {
    return this.#ended.before(queue, state, { time, limit });
  }

  endedBeyond(queue: string, state: JobState, count: number, limit: number): readonly Job[] {
    return this.#ended.beyond(queue, state, { count, limit });
  }

  oldestEnded(queue: string, state: EndedState, page: { from: number; limit: number }): readonly Job[] {
    return this.#ended.oldest(queue, state, page);
  }

  oldestResults(queue: string, page: { from: number; limit: number }): readonly Job[] {
    return this.#ended.results(queue, page);
  }

  resultsFrom(queue: string): number {
    return this.#ended.resultsFrom(queue);
  }

  setResultsFrom(queue: string, endedAt: number): void {
    this.#ended.setResultsFrom(queue, endedAt);
  }

  measure(measurement: Measurement): void {
    this.#log.measure(measurement);
  }

  statistics(queue: string, from: number, to: number): readonly StoredCell[] {
    return this.#statistics.statistics(queue, { from, to }, this.#log.pending());
  }

  series(queue: string, span: Span, first: number): readonly SeriesPage[] {
    return this.#series.pages(queue, { span, first }, this.#log.pending());
  }

  putPage(queue: string, page: SeriesPage): void {
    this.#series.put(queue, page);
  }

  statisticsBefore(queue: string, day: number): StoredSize {
    return this.#statistics.before(queue, day, this.#log.pending());
  }

  forgetStatistics(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    this.aggregateStatistics();
    this.#statistics.forgetDays(queue, kept, limit);
  }

  get hasLongLog(): boolean {
    return this.#log.isLong;
  }

  /** Adds the pending entries of the log to the cells and pages. */
  aggregateStatistics(): void {
    const entries = this.#log.take();
    this.#statistics.add(entries);
    this.#series.add(entries);
  }

  /** The days of which there are pending entries, by queue. */
  pendingDays(): readonly { readonly queue: string; readonly day: number }[] {
    return this.#log.pending().map((entry) => ({ queue: entry.queue, day: dayOfEntry(entry) }));
  }
}
