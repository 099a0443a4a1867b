/**
 * Limits in the model: each is counted afresh from the running jobs. Nothing is parked here, so nothing can be
 * forgotten.
 *
 * The model takes from the core which throttles a job has and how a rate counts, and nothing of how jobs wait for them.
 */
import type { Job } from '../../src/core/job/job.ts';
import type { Transition } from '../../src/core/lifecycle/lifecycle.ts';
import type { Bucket, BucketState, Throttle } from '../../src/core/limits/bucket.ts';
import {
  bucketAfter,
  bucketOf,
  bucketOpensAt,
  bucketState,
  closedBucket,
  NO_THROTTLE,
  rebasedBucket,
} from '../../src/core/limits/bucket.ts';
import { clampedRateAt, rateAfter, rateNextAt, rateRoom } from '../../src/core/limits/rate.ts';
import { needsOf } from '../../src/core/limits/resources.ts';
import { keyOf, readAddress, throttlesOf } from '../../src/core/limits/throttle.ts';
import type { Model } from './model.ts';

const ENTRY_EVENTS = ['added', 'committed', 'advanced', 'requeued', 'moved'];

export class ModelLimits {
  readonly #model: Model;
  readonly #served: Record<string, number> = {};
  readonly #last: Record<string, number> = {};
  readonly #rates: Record<string, number> = {};
  #buckets: Record<string, BucketState> = {};
  #hasForgotten = false;

  constructor(model: Model) {
    this.#model = model;
  }

  /** Drops the turns of a queue without keys, and the state of a queue without a rate. */
  changed(queue: string, now: number): void {
    const { keys, rate } = this.#model.settings(queue);
    if (rate === null) delete this.#rates[queue];
    this.fitRate(queue, now);
    if (keys !== null) return;
    delete this.#served[queue];
    for (const line of Object.keys(this.#last)) if (line.startsWith(`${queue} `)) delete this.#last[line];
  }

  /** Clamps the state of a rate: it reaches at most one period ahead. */
  fitRate(queue: string, now: number): void {
    const { rate } = this.#model.settings(queue);
    const at = this.#rates[queue];
    if (rate !== null && at !== undefined) this.#rates[queue] = clampedRateAt(rate, at, now);
  }

  slots(job: Job): readonly string[] {
    return throttlesOf(job, this.#model.settings(job.queue));
  }

  needs(job: Job): string {
    return needsOf(job, this.#model.settings(job.queue));
  }

  /** Returns whether each of its throttles has a slot left. */
  hasRoom(job: Job): boolean {
    return this.slots(job).every((address) => {
      const held = this.#model.running().filter((other) => other.slots.includes(address)).length;
      return held < this.#maxOf(address);
    });
  }

  /** Returns how many jobs the queue's own limits let start. */
  roomIn(queue: string, now: number): number {
    const { maxRunning, rate } = this.#model.settings(queue);
    const places = (maxRunning ?? Number.POSITIVE_INFINITY) - this.#model.in(queue, 'running').length;
    return rate === null ? places : Math.min(places, rateRoom(rate, this.#rates[queue] ?? 0, now));
  }

  started(job: Job, now: number): void {
    const { queue, turn } = job;
    for (const bucket of this.#bucketsOf(job))
      this.#buckets[bucket.address] = bucketAfter(bucket, this.#state(bucket, now), now);
    const { keys, rate } = this.#model.settings(queue);
    if (keys !== null) this.#served[queue] = Math.max(this.#served[queue] ?? 0, turn);
    if (rate !== null) this.#rates[queue] = rateAfter(rate, this.#rates[queue] ?? 0, { now, cost: 1 });
  }

  nextStart(queue: string, now: number): readonly number[] {
    const { rate } = this.#model.settings(queue);
    const at = rate === null ? null : rateNextAt(rate, this.#rates[queue] ?? 0, { now, cost: 1 });
    return at === null ? [] : [at];
  }

  /** Gives a job that enters a queue the turn after the last of its key, but none that was served. */
  enterQueue({ job, row }: Transition): Job {
    if (job.state !== 'waiting' || !ENTRY_EVENTS.includes(row.event)) return job;
    const settings = this.#model.settings(job.queue);
    if (settings.keys === null) return { ...job, turn: 0 };
    const line = `${job.queue} ${keyOf(job, settings) ?? ''}`;
    const turn = Math.max(this.#served[job.queue] ?? 0, this.#last[line] ?? 0) + 1;
    this.#last[line] = turn;
    return { ...job, turn };
  }

  /** Whether a bucket of a throttle was used or closed since the program began. */
  get hasBuckets(): boolean {
    return this.#hasForgotten || Object.keys(this.#buckets).length > 0;
  }

  /** Maintenance forgets the buckets that are full and open: they stay so if the clock of the caller goes back. */
  forgetBuckets(now: number): void {
    const kept = Object.entries(this.#buckets).filter(([, { at, until }]) => Math.max(at, until) > now);
    this.#hasForgotten ||= this.hasBuckets;
    this.#buckets = Object.fromEntries(kept);
  }

  /**
   * Returns when a job may start if only buckets hold it back, which is when the last of them opens; or null. A bucket that
   * is closed until a time may lack the cost of the job even then.
   */
  opensAt(job: Job, now: number): number | null {
    const times = this.#closed(job, now).map(({ bucket, at }) => {
      const {
        cost,
        throttle: { rate },
      } = bucket;
      return Math.max(at, (rate && rateNextAt(rate, this.#state(bucket, now).at, { now, cost })) ?? at);
    });
    return times.length === 0 ? null : Math.max(...times);
  }

  /** Closes the first bucket that holds a job back. Returns whether there is one. */
  waitsForBucket(job: Job, now: number): boolean {
    const [closed] = this.#closed(job, now);
    if (closed === undefined) return false;
    this.#close(closed.bucket, closed.at, now);
    return true;
  }

  pause(job: Job, { name, ms }: { name: string; ms: number }, now: number): void {
    this.#close(bucketOf(name, this.#throttle(name), job.data), now + ms, now);
  }

  rebaseBuckets(now: number): void {
    for (const [address, state] of Object.entries(this.#buckets)) this.#buckets[address] = rebasedBucket(state, now);
  }

  #close(bucket: Bucket, until: number, now: number): void {
    const state = this.#state(bucket, now);
    if (state.until < until) this.#buckets[bucket.address] = closedBucket(state, until, now);
  }

  #closed(job: Job, now: number): readonly { readonly bucket: Bucket; readonly at: number }[] {
    return this.#bucketsOf(job).flatMap((bucket) => {
      const at = bucketOpensAt(bucket, this.#state(bucket, now), now);
      return at === null ? [] : [{ bucket, at }];
    });
  }

  #bucketsOf(job: Job): readonly Bucket[] {
    const names = this.slots(job).flatMap((address) => {
      const what = readAddress(address);
      return 'name' in what ? [what.name] : [];
    });
    return names.map((name) => bucketOf(name, this.#throttle(name), job.data));
  }

  #throttle(name: string): Throttle {
    return this.#model.throttles[name] ?? NO_THROTTLE;
  }

  #state({ address, throttle }: Bucket, now: number): BucketState {
    return bucketState(this.#buckets[address], throttle, now);
  }

  #maxOf(address: string): number {
    const what = readAddress(address);
    const max = 'name' in what ? this.#throttle(what.name).max : this.#model.settings(what.queue).keys?.limit;
    return max ?? Number.POSITIVE_INFINITY;
  }
}
