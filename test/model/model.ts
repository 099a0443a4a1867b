/**
 * The expected behaviour of a store, computed naively: arrays that are searched and sorted afresh each time.
 *
 * The model takes from the core what becomes of one job (`lifecycle.ts`, `clock.ts`, `label.ts`), and nothing of how
 * jobs are found, ordered or stored, so that it cannot share a mistake of the operations or of a table. Tokens and
 * insertion numbers are the model's own; the comparison translates them.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import { isRunning, type Job, type RunningJob } from '../../src/core/job/job.ts';
import { type ClockMemory, type Moment, NEVER_SEEN, NO_GAP, readClock } from '../../src/core/lifecycle/clock.ts';
import {
  claimOrder,
  keyAddress,
  rebased,
  releasesKey,
  restartedLease,
  type Transition,
} from '../../src/core/lifecycle/lifecycle.ts';
import type { Throttle } from '../../src/core/limits/bucket.ts';
import { coalesceKeyOf } from '../../src/core/limits/coalesce.ts';
import type { StoreEvent, WorkerRecord } from '../../src/core/ports/job-store.ts';
import { GLOBAL_SETTINGS_KEY, type QueueSettings, settingsOf } from '../../src/core/settings/settings.ts';
import { follow } from './model-coalescing.ts';
import type { ParentChange } from './model-family.ts';
import { ModelLimits } from './model-limits.ts';
import { type Fact, factOf } from './model-statistics.ts';
import type { OwnedStep } from './model-steps.ts';
import { addWebhookJobs } from './model-webhooks.ts';
import { ALL_QUEUES } from './program.ts';

interface HeldKey {
  readonly address: string;
  readonly id: string;
  readonly until: number;
}

/** An edge from a parent to a child, by insertion numbers. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly isOpen: boolean;
}

interface Remembered {
  readonly worker: string;
  readonly requestId: string;
  readonly leases: readonly { readonly id: string; readonly token: number }[];
}

type KnownWorker = Omit<WorkerRecord, 'isLost' | 'running'>;

export interface ModelOptions {
  readonly clock: 'caller' | 'guarded';
  readonly ids: readonly string[];
  readonly startAt: number;
}

/** Everything a store holds, in lists. The calls are in `model-calls.ts` and `model-reads.ts`. */
export class Model {
  jobs: readonly Job[] = [];
  edges: readonly Edge[] = [];
  claims: readonly Remembered[] = [];
  workers: readonly KnownWorker[] = [];
  /** The steps of all jobs, in the order in which they were first kept. */
  steps: readonly OwnedStep[] = [];
  readonly events: StoreEvent[] = [];
  /** The facts from which statistics are computed. */
  readonly facts: Fact[] = [];
  /** Every token given so far, in order. */
  readonly tokens: { readonly id: string; readonly token: number }[] = [];
  /** All ids that programs give to jobs. */
  readonly #ids: readonly string[];
  now: number;
  readonly #isGuarded: boolean;
  readonly #settings: Record<string, Partial<QueueSettings>> = {};
  readonly throttles: Record<string, Throttle> = {};
  readonly #limits = new ModelLimits(this);
  #rows: readonly { readonly id: string; readonly row: HistoryRow }[] = [];
  #keys: readonly HeldKey[] = [];
  #clock: ClockMemory = NEVER_SEEN;
  #seq = 0;

  constructor({ clock, ids, startAt }: ModelOptions) {
    this.#isGuarded = clock === 'guarded';
    this.#ids = ids;
    this.now = startAt;
  }

  /** All ids that jobs can have: those of programs, and those of webhook jobs. */
  get ids(): readonly string[] {
    const written = this.jobs.map(({ id }) => id).filter((id) => !this.#ids.includes(id));
    return [...this.#ids, ...written];
  }

  /** The time of a call. A read leaves no trace in the clock's memory. */
  moment(kind: 'call' | 'read'): Moment {
    if (!this.#isGuarded) return { now: this.now, gap: NO_GAP };
    const reading = readClock(this.#clock, this.now);
    if (kind === 'read') return reading;
    this.#clock = reading.memory;
    if (reading.hasSteppedBack) {
      const time = { from: reading.now, now: reading.now };
      this.jobs = this.jobs.map((job) => {
        if (isRunning(job)) return rebased(restartedLease(job, reading.now), time);
        return job.state === 'waiting' ? rebased(job, time) : job;
      });
      for (const queue of ALL_QUEUES) this.#limits.fitRate(queue, reading.now);
      this.#limits.rebaseBuckets(reading.now);
    }
    return reading;
  }

  setQueue(queue: string, settings: Partial<QueueSettings>): void {
    const { now } = this.moment('read');
    this.#settings[queue] = settings;
    for (const each of queue === GLOBAL_SETTINGS_KEY ? ALL_QUEUES : [queue]) this.#limits.changed(each, now);
    this.events.push({ type: 'queue', id: '', queue, state: null });
  }

  settings(queue: string): QueueSettings {
    return settingsOf(this.#settings[queue], this.#settings[GLOBAL_SETTINGS_KEY]);
  }

  get(id: string): Job | undefined {
    return this.jobs.find((job) => job.id === id);
  }

  in(queue: string, state: Job['state']): readonly Job[] {
    return this.jobs.filter((job) => job.queue === queue && job.state === state);
  }

  running(): readonly RunningJob[] {
    return this.jobs.filter(isRunning).sort((a, b) => a.lease.until - b.lease.until || a.seq - b.seq);
  }

  /** The jobs that a claim would start, in claim order. */
  ready(queue: string, now: number): readonly Job[] {
    const due = this.in(queue, 'waiting').filter((job) => job.runAt <= now && !this.isBlocked(job));
    return this.settings(queue).state === 'up' ? due.sort(claimOrder) : [];
  }

  /** Returns whether the job waits for a job that is not done, or that it is coalesced into. */
  isBlocked({ seq, state, foldedInto }: Job): boolean {
    const isBehind = foldedInto !== null || this.edges.some((edge) => edge.to === seq && edge.isOpen);
    return state === 'waiting' && isBehind;
  }

  /** Computes the counts in the records from the edges. A deleted job does not count as bad: it has no open edge. */
  recount(): void {
    const bad = this.jobs.filter(({ state }) => state === 'failed' || state === 'cancelled').map(({ seq }) => seq);
    this.jobs = this.jobs.map((job) => {
      const above = this.edges.filter(({ to }) => to === job.seq);
      const open = above.filter(({ isOpen }) => isOpen);
      const numbers = {
        of: above.length,
        open: open.length,
        bad: open.filter(({ from }) => bad.includes(from)).length,
      };
      const dependents = this.edges.filter(({ from, isOpen }) => from === job.seq && isOpen).length;
      const coalesceKey = job.coalesceKey !== null && this.isBlocked(job) ? null : job.coalesceKey;
      return { ...job, parents: above.length === 0 ? null : numbers, dependents, coalesceKey };
    });
  }

  /** The limits that keep a ready job from starting. */
  get limits(): ModelLimits {
    return this.#limits;
  }

  rows(id: string): readonly HistoryRow[] {
    return this.#rows.filter((each) => each.id === id).map(({ row }) => row);
  }

  nextSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  nextToken(id: string): number {
    const token = this.tokens.length + 1;
    this.tokens.push({ id, token });
    return token;
  }

  /** Applies a transition with all its effects. Returns the changes of jobs that were coalesced into this one. */
  become(transition: Transition, now: number): readonly ParentChange[] {
    const { row } = transition;
    const entered = this.#limits.enterQueue(transition);
    const isClaimable = entered.state === 'waiting' && entered.suspension === null && !this.isBlocked(entered);
    const coalesceKey = isClaimable ? coalesceKeyOf(entered, this.settings(entered.queue)) : null;
    const job = { ...entered, coalesceKey };
    const before = this.get(job.id);
    const fact = before === undefined ? null : factOf(before, job, row);
    if (fact !== null) this.facts.push(fact);
    this.keep(job);
    this.appendRow(job.id, row);
    this.events.push({ type: row.event, id: job.id, queue: job.queue, state: job.state });
    if (before !== undefined) this.#followKey(before, job, now);
    addWebhookJobs(this, job, row, now);
    return before === undefined ? [] : follow(this, before, { job, row }, now);
  }

  keep(job: Job): void {
    if (job.steps === null) this.steps = this.steps.filter(({ id }) => id !== job.id);
    this.jobs = [...this.jobs.filter(({ id }) => id !== job.id), job];
    this.recount();
  }

  /** Keeps at most a hundred rows: the first, and the latest of the others. */
  appendRow(id: string, row: HistoryRow): void {
    const [first, ...others] = [...this.rows(id), row];
    const kept = [first as HistoryRow, ...others.slice(-99)];
    this.#rows = [...this.#rows.filter((each) => each.id !== id), ...kept.map((each) => ({ id, row: each }))];
  }

  forget(job: Job): void {
    this.jobs = this.jobs.filter(({ id }) => id !== job.id);
    this.#rows = this.#rows.filter(({ id }) => id !== job.id);
    this.#keys = this.#keys.filter(({ id }) => id !== job.id);
    this.steps = this.steps.filter(({ id }) => id !== job.id);
    this.edges = this.edges.filter(({ to }) => to !== job.seq);
    this.recount();
    this.events.push({ type: 'deleted', id: job.id, queue: job.queue, state: job.state });
  }

  /** Returns another job that holds the key which this job wants in that queue. */
  otherHolder({ id, unique }: Pick<Job, 'id' | 'unique'>, queue: string, now: number): Job | undefined {
    if (unique === null) return undefined;
    const held = this.#keyAt(keyAddress(unique, queue), now);
    return held === undefined || held.id === id ? undefined : this.get(held.id);
  }

  holdsKey({ id, unique, queue }: Job, now: number): boolean {
    return unique !== null && this.#keyAt(keyAddress(unique, queue), now)?.id === id;
  }

  takeKey({ id, unique, queue }: Job, now: number): void {
    if (unique === null) return;
    const address = keyAddress(unique, queue);
    if (this.#keyAt(address, now) !== undefined) return;
    const until = unique.until === 'period' ? now + unique.periodMs : Number.POSITIVE_INFINITY;
    this.#keys = [...this.#keys.filter((key) => key.address !== address), { address, id, until }];
  }

  releaseKey({ id }: Job): void {
    this.#keys = this.#keys.filter((key) => key.id !== id);
  }

  /** Takes the key from any holder. */
  transferKey({ id, unique, queue }: Job): void {
    if (unique === null) return;
    const address = keyAddress(unique, queue);
    const others = this.#keys.filter((key) => key.address !== address);
    this.#keys = [...others, { address, id, until: Number.POSITIVE_INFINITY }];
  }

  /** Passes a key that is free, or that this job holds, to another job. */
  inheritKey(heir: Job, holder: Job): void {
    const other = this.otherHolder(holder, holder.queue, Number.NEGATIVE_INFINITY);
    if (other === undefined) this.transferKey(heir);
  }

  #keyAt(address: string, now: number): HeldKey | undefined {
    return this.#keys.find((key) => key.address === address && key.until > now);
  }

  #followKey(before: Job, after: Job, now: number): void {
    const { unique } = before;
    if (unique === null) return;
    const isOver = releasesKey(unique, after.state);
    const hasMoved = keyAddress(unique, before.queue) !== keyAddress(unique, after.queue);
    const isKept = hasMoved && !isOver && this.holdsKey(before, now);
    if (isOver || hasMoved) this.releaseKey(before);
    if (isKept) this.takeKey(after, now);
  }
}
