/**
 * State of throttles in the memory table: parked jobs, turns of keys, and rates. Slots are in the jobs that hold them.
 */

import { byText } from '../../core/input/text-order.ts';
import type { Job } from '../../core/job/job.ts';
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
  }

  #of(queue: string): Turns {
    const turns = this.#turns.get(queue) ?? { served: 0, last: new Map<string, number>() };
    this.#turns.set(queue, turns);
    return turns;
  }
}
