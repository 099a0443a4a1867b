// Long because the operations need one table; most methods are a line or two.
/**
 * The table of the memory store: rows in maps. It is the reference: plain before fast.
 *
 * Ready jobs and leases are kept sorted, because claims are hot; every other read scans all jobs.
 */

import type { HistoryRow } from '../../core/job/history.ts';
import { appendRow } from '../../core/job/history.ts';
import type { EndedState, Job, JobState, RunningJob } from '../../core/job/job.ts';
import { isBlocked, isEnded, isRunning, JOB_STATES } from '../../core/job/job.ts';
import type { Step, StepKind } from '../../core/job/step.ts';
import type { ClockStep } from '../../core/lifecycle/clock.ts';
import type { PlainJob, Transition } from '../../core/lifecycle/lifecycle.ts';
import { claimOrder, createdLike, keyAddress } from '../../core/lifecycle/lifecycle.ts';
import type { BucketState, Throttle } from '../../core/limits/bucket.ts';
import { isWanted } from '../../core/operations/read.ts';
import type { TagCount } from '../../core/ports/insight.ts';
import type { JobQuery, QueueCounts, StoreEvent } from '../../core/ports/job-store.ts';
import type { MigratedJob } from '../../core/ports/migration.ts';
import type { ClaimedLease, Edge, LaterPage, RememberedClaim, Table, WorkerRow } from '../../core/ports/table.ts';
import { MAX_REMEMBERED_CLAIMS } from '../../core/ports/table.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { CurrentFailureGroup } from '../../core/statistics/failure-trend.ts';
import type { SeriesPage, Span } from '../../core/statistics/series.ts';
import type { Measurement, StoredCell } from '../../core/statistics/statistics.ts';
import type { QueueStorage, StoredSize } from '../../core/statistics/storage.ts';
import { Edges } from './edges.ts';
import { failureGroups, storageIn, topTags } from './memory-insight.ts';
import { MemorySeries } from './memory-series.ts';
import { MemoryStatistics } from './memory-statistics.ts';
import { MemorySteps } from './memory-steps.ts';
import { MemoryThrottles } from './memory-throttles.ts';
import { SortedList } from './sorted-list.ts';

interface QueueIndex {
  readonly waiting: SortedList<Job>;
  readonly running: SortedList<RunningJob>;
}

export interface MemoryTableOptions {
  settings(queue: string): QueueSettings;
  throttle(name: string): Throttle;
  closed(): string | null;
  /** The size of the logs of a queue. */
  logs(queue: string): StoredSize;
  emit(event: StoreEvent): void;
}

export class MemoryTable implements Table {
  readonly #jobs = new Map<string, Job>();
  readonly #bySeq = new Map<number, string>();
  readonly #rows = new Map<string, readonly HistoryRow[]>();
  readonly #queueIndexes = new Map<string, QueueIndex>();
  readonly #keys = new Map<string, { readonly id: string; readonly until: number | null }>();
  readonly #steps = new MemorySteps();
  readonly #edges = new Edges();
  readonly #claims = new Map<string, readonly RememberedClaim[]>();
  readonly #workers = new Map<string, WorkerRow>();
  readonly #statistics = new MemoryStatistics();
  readonly #series = new MemorySeries();
  #seq = 0;
  #token = 0;
  #claimedAt = 0;
  #clockStep: ClockStep | null = null;
  readonly settings: (queue: string) => QueueSettings;
  readonly throttle: (name: string) => Throttle;
  readonly closed: () => string | null;
  readonly #throttles = new MemoryThrottles();
  readonly emit: (event: StoreEvent) => void;
  readonly #logs: (queue: string) => StoredSize;

  constructor(options: MemoryTableOptions) {
    this.settings = options.settings;
    this.throttle = options.throttle;
    this.closed = options.closed;
    this.emit = options.emit;
    this.#logs = options.logs;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  rows(id: string): readonly HistoryRow[] {
    return this.#rows.get(id) ?? [];
  }

  insert(job: Job, row: HistoryRow): void {
    this.#jobs.set(job.id, job);
    this.#bySeq.set(job.seq, job.id);
    this.#enter(job);
    this.append(job, row);
  }

  insertLike(template: Transition, input: PlainJob): void {
    const { job, row } = createdLike(template, input, this.takeSeq());
    this.insert(job, row);
  }

  replace(before: Job, after: Job, row: HistoryRow | null): void {
    this.#leave(before);
    this.#jobs.set(after.id, after);
    this.#enter(after);
    if (row !== null) this.append(after, row);
  }

  replaceLike(_like: Transition, before: Job, { job, row }: Transition): void {
    this.replace(before, job, row);
  }

  append(job: Job, row: HistoryRow): void {
    this.#rows.set(job.id, appendRow(this.rows(job.id), row));
  }

  remove(job: Job): void {
    this.#leave(job);
    this.#jobs.delete(job.id);
    this.#bySeq.delete(job.seq);
    this.#rows.delete(job.id);
    this.#steps.remove(job);
  }

  steps(job: Job): readonly Step[] {
    return this.#steps.of(job);
  }

  step(job: Job, kind: StepKind, name: string): Step | undefined {
    return this.#steps.get(job, kind, name);
  }

  putStep(job: Job, step: Step): void {
    this.#steps.put(job, step);
  }

  clearSteps(job: Job): void {
    this.#steps.remove(job);
  }

  clockStep(): ClockStep | null {
    return this.#clockStep;
  }

  setClockStep(step: ClockStep | null): void {
    this.#clockStep = step;
  }

  waitingLater({ afterSeq, limit, now }: LaterPage): { ids: readonly string[]; afterSeq: number | null } {
    const rest = [...this.#jobs.values()].filter((job) => job.seq > afterSeq).sort((a, b) => a.seq - b.seq);
    const page = rest.slice(0, limit);
    const later = page.filter((job) => job.state === 'waiting' && job.runAt > now);
    return { ids: later.map(({ id }) => id), afterSeq: rest.length < limit ? null : (page.at(-1)?.seq ?? null) };
  }

  takeSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  takeToken(): number {
    this.#token += 1;
    return this.#token;
  }

  queues(): readonly string[] {
    return [...this.#queueIndexes.keys()].sort();
  }

  ready(queue: string, now: number, page: { limit: number; offset: number; forClaim: boolean }): readonly Job[] {
    const { limit, offset, forClaim } = page;
    if (forClaim) this.#observeTime(now);
    const due = this.#queueIndex(queue).waiting.items.filter((job) => job.runAt <= now);
    const found = forClaim ? due.filter((job) => !this.#throttles.isParked(job)) : due;
    return found.slice(offset, offset + limit);
  }

  /**
   * Unparks all jobs when a claim comes with an earlier time: a ready job that represents parked ones may not be due
   * then.
   */
  #observeTime(now: number): void {
    if (now < this.#claimedAt) this.#throttles.leaveAll();
    this.#claimedAt = now;
  }

  equals(queue: string, key: string, due: { now: number; limit: number }): readonly Job[] {
    const found = this.#queueIndex(queue).waiting.items.filter(
      (job) => job.coalesceKey === key && job.runAt <= due.now,
    );
    return found.sort((a, b) => a.runAt - b.runAt || a.seq - b.seq).slice(0, due.limit);
  }

  foldedInto(id: string): readonly Job[] {
    const found = [...this.#jobs.values()].filter((job) => job.state === 'waiting' && job.foldedInto === id);
    return found.sort((a, b) => a.seq - b.seq);
  }

  running(queue: string): number {
    return this.#queueIndex(queue).running.items.length;
  }

  held(address: string): number {
    return this.allRunning().filter((job) => job.slots.includes(address)).length;
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

  parkedNeeds(queue: string, rotation: number): readonly string[] {
    return this.#throttles.needs(queue, rotation);
  }

  firstParked(address: string, queue: string): Job | undefined {
    return this.#throttles.first(this.#queueIndex(queue).waiting.items, address);
  }

  unpark(address: string, queue: string, limit: number): number {
    return this.#throttles.unpark(this.#queueIndex(queue).waiting.items, address, limit);
  }

  /** Applies new settings of a queue: its parked jobs are unparked, and state of removed limits is deleted. */
  queueChanged(queue: string): void {
    const { keys, rate } = this.settings(queue);
    for (const job of this.#queueIndex(queue).waiting.items) this.#throttles.leave(job);
    if (keys === null) this.#throttles.forgetTurns(queue);
    if (rate === null) this.#throttles.rates.delete(queue);
  }

  bucket(address: string): BucketState | undefined {
    return this.#throttles.buckets.get(address);
  }

  setBucket(address: string, state: BucketState): void {
    this.#throttles.buckets.set(address, state);
  }

  busyBuckets(now: number, limit: number): readonly string[] {
    return this.#throttles.busyBuckets(now).slice(0, limit);
  }

  rebaseBuckets(now: number): void {
    this.#throttles.rebaseBuckets(now);
  }

  forgetBuckets(time: number): void {
    this.#throttles.forgetBuckets(time);
  }

  setWake(queue: string, park: string, at: number | null): void {
    this.#throttles.setWake(queue, park, at);
  }

  wakes(queue: string, now: number, limit: number): readonly string[] {
    return this.#throttles.wakes(queue, now).slice(0, limit);
  }

  wakesOf(name: string): readonly (readonly [string, string])[] {
    return this.#throttles.wakesOf(name);
  }

  nextWake(queue: string, now: number): number | null {
    return least(this.#throttles.wakesAfter(queue, now));
  }

  turnServed(queue: string): number {
    return this.#throttles.served(queue);
  }

  lastTurn(queue: string, key: string): number {
    return this.#throttles.lastTurn(queue, key);
  }

  serveTurn(queue: string, turn: number): void {
    this.#throttles.serve(queue, turn);
  }

  giveTurn(queue: string, key: string, turn: number): void {
    this.#throttles.give(queue, key, turn);
  }

  rateAt(queue: string): number {
    return this.#throttles.rates.get(queue) ?? 0;
  }

  setRateAt(queue: string, at: number): void {
    this.#throttles.rates.set(queue, at);
  }

  leasesUntil(queue: string, until: number, limit: number): readonly RunningJob[] {
    return this.#queueIndex(queue)
      .running.items.filter((job) => job.lease.until <= until)
      .slice(0, limit);
  }

  allRunning(): readonly RunningJob[] {
    return [...this.#queueIndexes.values()].flatMap((index) => index.running.items);
  }

  nextRunAt(queue: string, now: number): number | null {
    const later = this.#queueIndex(queue).waiting.items.filter((job) => job.runAt > now);
    return least(later.map((job) => job.runAt));
  }

  nextLeaseEnd(queue: string): number | null {
    return this.#queueIndex(queue).running.items[0]?.lease.until ?? null;
  }

  keyHolder(address: string, now: number): string | undefined {
    const held = this.#keys.get(address);
    return held === undefined || (held.until !== null && held.until <= now) ? undefined : held.id;
  }

  takeKey(address: string, id: string, until: number | null): void {
    this.#keys.set(address, { id, until });
  }

  releaseKey(address: string, id: string): void {
    if (this.#keys.get(address)?.id === id) this.#keys.delete(address);
  }

  /** Deletes keys whose period is over. */
  forgetKeys(now: number): void {
    for (const [address, { until }] of this.#keys) if (until !== null && until <= now) this.#keys.delete(address);
  }

  openChildren(parent: Job): readonly Job[] {
    const jobs = this.#edges.children(parent, 'open').flatMap((id) => this.#jobs.get(id) ?? []);
    return jobs.sort((a, b) => a.seq - b.seq);
  }

  openParents(child: Job): readonly Job[] {
    return this.#parents(child, 'open');
  }

  edge(parent: Job, child: Job): Edge | null {
    return this.#edges.of(parent, child);
  }

  setEdge(parent: Job, child: Job, edge: Edge | null): void {
    this.#edges.set(parent, child, edge);
  }

  removeEdges(child: Job): void {
    this.#edges.remove(child);
  }

  leasesOfClaim(worker: string, requestId: string): readonly ClaimedLease[] | undefined {
    return this.#claims.get(worker)?.find((claim) => claim.requestId === requestId)?.leases;
  }

  rememberClaim(worker: string, claim: RememberedClaim): void {
    const earlier = this.#claims.get(worker) ?? [];
    this.#claims.set(worker, [claim, ...earlier].slice(0, MAX_REMEMBERED_CLAIMS));
  }

  worker(id: string): WorkerRow | undefined {
    return this.#workers.get(id);
  }

  putWorker(worker: WorkerRow): void {
    this.#workers.set(worker.id, worker);
  }

  removeWorker(id: string): void {
    this.#workers.delete(id);
    this.#claims.delete(id);
  }

  workers(): readonly WorkerRow[] {
    return [...this.#workers.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  scan(query: JobQuery, belowSeq: number, limit: number): readonly Job[] {
    const related = this.#related(query);
    const wanted = related.filter((job) => job.seq < belowSeq && isWanted(query, job));
    return wanted.sort((a, b) => b.seq - a.seq).slice(0, limit);
  }

  count(queue: string, now: number): QueueCounts {
    const jobs = [...this.#jobs.values()].filter((job) => job.queue === queue);
    const states = JOB_STATES.map((state) => [state, jobs.filter((job) => job.state === state).length]);
    return {
      ...(Object.fromEntries(states) as Record<JobState, number>),
      queue,
      blocked: jobs.filter(isBlocked).length,
      scheduled: jobs.filter((job) => job.state === 'waiting' && !isBlocked(job) && job.runAt > now).length,
      relayed: jobs.filter((job) => job.state === 'done' && job.forwardedTo !== null).length,
    };
  }

  storage(queue: string): QueueStorage {
    return storageIn(queue, [...this.#jobs.values()], this.#logs(queue));
  }

  topTags(limit: number): readonly TagCount[] {
    return topTags([...this.#jobs.values()], limit);
  }

  failures(queue: string): readonly CurrentFailureGroup[] {
    return failureGroups(queue, this.#ended(queue, 'failed'));
  }

  draftsBefore(time: number, limit: number): readonly Job[] {
    const old = [...this.#jobs.values()].filter((job) => job.state === 'draft' && job.createdAt < time);
    return old.sort((a, b) => a.createdAt - b.createdAt || a.seq - b.seq).slice(0, limit);
  }

  countBefore(queue: string, state: JobState, time: number): number {
    const jobs = [...this.#jobs.values()].filter((job) => job.queue === queue && job.state === state);
    return jobs.filter((job) => (state === 'draft' ? job.createdAt : (job.endedAt ?? 0)) < time).length;
  }

  endedBefore(queue: string, state: JobState, time: number, limit: number): readonly Job[] {
    return this.#ended(queue, state)
      .filter((job) => (job.endedAt ?? 0) < time)
      .slice(0, limit);
  }

  endedBeyond(queue: string, state: JobState, count: number, limit: number): readonly Job[] {
    const ended = this.#ended(queue, state);
    return ended.slice(0, Math.min(limit, Math.max(0, ended.length - count)));
  }

  oldestEnded(queue: string, state: EndedState, { from, limit }: { from: number; limit: number }): readonly Job[] {
    return this.#ended(queue, state)
      .filter((job) => (job.endedAt ?? 0) >= from)
      .slice(0, limit);
  }

  oldestResults(queue: string, { from, limit }: { from: number; limit: number }): readonly Job[] {
    const all = this.oldestEnded(queue, 'done', { from, limit: Number.POSITIVE_INFINITY });
    return all.filter(({ result }) => result !== null).slice(0, limit);
  }

  /** Every read scans all jobs anyway. */
  resultsFrom(): number {
    return 0;
  }

  setResultsFrom(): void {}

  measure(measurement: Measurement): void {
    this.#statistics.measure(measurement);
    this.#series.measure(measurement);
  }

  statistics(queue: string, from: number, to: number): readonly StoredCell[] {
    return this.#statistics.statistics(queue, from, to);
  }

  series(queue: string, span: Span, first: number): readonly SeriesPage[] {
    return this.#series.pages(queue, span, first);
  }

  putPage(queue: string, page: SeriesPage): void {
    this.#series.put(queue, page);
  }

  statisticsBefore(queue: string, day: number): StoredSize {
    return this.#statistics.before(queue, day);
  }

  forgetStatistics(queue: string, kept: { day: number; histogramDay: number }, limit: number): void {
    this.#statistics.forget(queue, kept, limit);
  }

  // ── store migration (core/ports/migration.ts) ──

  get numbers(): { seq: number; token: number } {
    return { seq: this.#seq, token: this.#token };
  }

  raise({ seq, token }: { seq: number; token: number }): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#token = Math.max(this.#token, token);
  }

  /** Returns the jobs by insertion. */
  migratedJobs(): readonly MigratedJob[] {
    const jobs = [...this.#jobs.values()].sort((a, b) => a.seq - b.seq);
    return jobs.map((job) => ({
      job,
      history: this.rows(job.id),
      steps: this.#steps.of(job),
      ...this.#relationsOf(job),
    }));
  }

  #relationsOf(job: Job): Pick<MigratedJob, 'parents' | 'holds'> {
    const seqs = [...this.#edges.parents(job)].sort((a, b) => a - b);
    const held = job.unique === null ? undefined : this.#keys.get(keyAddress(job.unique, job.queue));
    return {
      parents: seqs.map((seq) => ({ seq, isOpen: this.#edges.of({ seq }, job) === 'open' })),
      holds: held?.id === job.id ? { until: held.until } : null,
    };
  }

  restore({ job, history, steps, parents, holds }: MigratedJob): void {
    const known = this.#jobs.get(job.id);
    if (known !== undefined) this.#forget(known);
    this.#jobs.set(job.id, job);
    this.#bySeq.set(job.seq, job.id);
    this.#rows.set(job.id, history);
    this.#enter(job);
    for (const step of steps) this.#steps.put(job, step);
    for (const { seq, isOpen } of parents) this.#edges.set({ seq }, job, isOpen ? 'open' : 'closed');
    if (holds !== null && job.unique !== null) this.takeKey(keyAddress(job.unique, job.queue), job.id, holds.until);
  }

  addQueue(name: string): void {
    this.#queueIndexes.set(name, this.#queueIndex(name));
  }

  turnsOf(queue: string): readonly (readonly [string, number])[] {
    return this.#throttles.turnsOf(queue);
  }

  putCell(queue: string, cell: StoredCell): void {
    this.#statistics.put(queue, cell);
  }

  clear(): void {
    for (const job of this.#jobs.values()) this.#forget(job);
    this.#queueIndexes.clear();
    this.#keys.clear();
    this.#statistics.clear();
    this.#series.clear();
    this.#throttles.clear();
  }

  #forget(job: Job): void {
    this.remove(job);
    this.removeEdges(job);
    if (job.unique !== null) this.releaseKey(keyAddress(job.unique, job.queue), job.id);
  }

  /** Oldest end first. */
  #ended(queue: string, state: JobState): Job[] {
    const jobs = [...this.#jobs.values()].filter(
      (job) => job.queue === queue && job.state === state && isEnded(job.state),
    );
    return jobs.sort((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0) || a.seq - b.seq);
  }

  #parents(child: Job, kind?: Edge): readonly Job[] {
    const ids = this.#edges.parents(child, kind).flatMap((seq) => this.#bySeq.get(seq) ?? []);
    return ids.flatMap((id) => this.#jobs.get(id) ?? []);
  }

  /** Returns all jobs, or only the children or parents that the query asks for. */
  #related({ parent, child }: JobQuery): readonly Job[] {
    const [above, below] = [parent, child].map((id) => (id === undefined ? undefined : this.#jobs.get(id)));
    if ((parent !== undefined && above === undefined) || (child !== undefined && below === undefined)) return [];
    const parents = below === undefined ? null : new Set(this.#parents(below));
    const all = above === undefined ? [...this.#jobs.keys()] : this.#edges.children(above);
    const jobs = all.flatMap((id) => this.#jobs.get(id) ?? []);
    return parents === null ? jobs : jobs.filter((job) => parents.has(job));
  }

  #queueIndex(queue: string): QueueIndex {
    return (
      this.#queueIndexes.get(queue) ?? { waiting: new SortedList(claimOrder), running: new SortedList(leaseOrder) }
    );
  }

  #enter(job: Job): void {
    const index = this.#queueIndex(job.queue);
    this.#queueIndexes.set(job.queue, index);
    if (job.state === 'waiting' && !isBlocked(job)) index.waiting.insert(job);
    if (isRunning(job)) index.running.insert(job);
  }

  #leave(job: Job): void {
    const index = this.#queueIndex(job.queue);
    this.#throttles.leave(job);
    if (job.state === 'waiting' && !isBlocked(job)) index.waiting.remove(job);
    if (isRunning(job)) index.running.remove(job);
  }
}

function leaseOrder(a: RunningJob, b: RunningJob): number {
  return a.lease.until - b.lease.until || a.seq - b.seq;
}

function least(values: readonly number[]): number | null {
  return values.reduce<number | null>((least, value) => (least === null || value < least ? value : least), null);
}
