/**
 * State of throttles in the memory table: parked jobs, turns of keys, rates and buckets. Slots are in the jobs that hold
 * them.
 */

import { byText } from '../../core/input/text-order.ts';
import type { Job } from '../../core/job/job.ts';
import type { BucketState } from '../../core/limits/bucket.ts';
import { parkedBucket, readBucket, rebasedBucket } from '../../core/limits/bucket.ts';
import { MAX_NEEDS } from '../../core/limits/resources.ts';

interface Turns {
  served: number;
  readonly last: Map<string, number>;
}

export class MemoryThrottles {
  readonly #parked = new Map<string, { readonly queue: string; readonly address: string }>();
  readonly #turns = new Map<string, Turns>();
  /** By queue: see core/limits/rate.ts. */
  readonly rates = new Map<string, number>();
  /** By address: see core/limits/bucket.ts. */
  readonly buckets = new Map<string, BucketState>();
  /** By the address under which jobs of one queue are parked. */
  readonly #wakes = new Map<string, { readonly queue: string; readonly at: number }>();

  isParked({ id }: Job): boolean {
    return this.#parked.has(id);
  }

  park({ id, queue }: Job, address: string): void {
    this.#parked.set(id, { queue, address });
  }

  leave({ id }: Job): void {
    this.#parked.delete(id);
  }

  leaveAll(): void {
    this.#parked.clear();
  }

  queues(address: string): readonly string[] {
    const under = [...this.#parked.values()].filter((parked) => parked.address === address);
    return [...new Set(under.map(({ queue }) => queue))];
  }

  count(address: string): number {
    return [...this.#parked.values()].filter((parked) => parked.address === address).length;
  }

  needs(queue: string, rotation: number): readonly string[] {
    const under = [...this.#parked.values()].map(({ address }) => address);
    const own = [...new Set(under.filter((address) => address.startsWith(`n:${queue}:`)))].sort(byText);
    const from = (rotation % Math.max(1, Math.ceil(own.length / MAX_NEEDS))) * MAX_NEEDS;
    return own.slice(from, from + MAX_NEEDS);
  }

  first(waiting: readonly Job[], address: string): Job | undefined {
    return waiting.find(({ id }) => this.#parked.get(id)?.address === address);
  }

  /** `waiting`: jobs of one queue, in claim order. */
  unpark(waiting: readonly Job[], address: string, limit: number): number {
    const back = waiting.filter(({ id }) => this.#parked.get(id)?.address === address).slice(0, limit);
    for (const job of back) this.leave(job);
    return back.length;
  }

  busyBuckets(now: number): readonly string[] {
    const busy = [...this.buckets].filter(([, { at, until }]) => Math.max(at, until) > now);
    return busy.map(([address]) => address).sort(byText);
  }

  forgetBuckets(time: number): void {
    for (const [address, { at, until }] of this.buckets) if (Math.max(at, until) <= time) this.buckets.delete(address);
  }

  rebaseBuckets(now: number): void {
    for (const [address, state] of this.buckets) this.buckets.set(address, rebasedBucket(state, now));
    for (const [park, { queue, at }] of this.#wakes) this.#wakes.set(park, { queue, at: Math.min(at, now) });
  }

  setWake(queue: string, park: string, at: number | null): void {
    if (at === null) this.#wakes.delete(park);
    else this.#wakes.set(park, { queue, at });
  }

  wakes(queue: string, now: number): readonly string[] {
    const due = [...this.#wakes].filter(([, wake]) => wake.queue === queue && wake.at <= now);
    return due.sort(([a, { at }], [b, other]) => at - other.at || byText(a, b)).map(([park]) => park);
  }

  wakesAfter(queue: string, now: number): readonly number[] {
    return [...this.#wakes.values()].filter((wake) => wake.queue === queue && wake.at > now).map(({ at }) => at);
  }

  wakesOf(name: string): readonly (readonly [queue: string, park: string])[] {
    const own = [...this.#wakes].filter(([park]) => readBucket(parkedBucket(park)).name === name);
    return own.map(([park, { queue }]) => [queue, park]);
  }

  served(queue: string): number {
    return this.#turns.get(queue)?.served ?? 0;
  }

  lastTurn(queue: string, key: string): number {
    return this.#turns.get(queue)?.last.get(key) ?? 0;
  }

  serve(queue: string, turn: number): void {
    const { last } = this.#of(queue);
    this.#turns.set(queue, { served: turn, last });
    for (const [key, given] of last) if (given <= turn) last.delete(key);
  }

  give(queue: string, key: string, turn: number): void {
    this.#of(queue).last.set(key, turn);
  }

  forgetTurns(queue: string): void {
    this.#turns.delete(queue);
  }

  turnsOf(queue: string): readonly (readonly [string, number])[] {
    return [...(this.#turns.get(queue)?.last ?? [])];
  }

  clear(): void {
    this.leaveAll();
    this.#turns.clear();
    this.rates.clear();
    this.buckets.clear();
    this.#wakes.clear();
  }

  #of(queue: string): Turns {
    const turns = this.#turns.get(queue) ?? { served: 0, last: new Map<string, number>() };
    this.#turns.set(queue, turns);
    return turns;
  }
}
