/**
 * The last events, each with an id that only grows, also over restarts: `<epoch>-<number>`. Who comes back with the id
 * it saw last gets what it missed, or is told that this is no longer known.
 */

import type { StoreEventType } from '../core/job-store.ts';

export interface RingEvent {
  readonly id: string;
  /** The name of the message, and its content as JSON text. */
  readonly event: string;
  readonly data: string;
  /** What it concerns, for those who asked for less than everything. */
  readonly job: string | null;
  readonly queues: readonly string[];
  /** What happened to the job, in its order. */
  readonly types: readonly StoreEventType[];
}

const RING_SIZE = 10_000;

export class EventRing {
  readonly #epoch: number;
  readonly #size: number;
  readonly #events: RingEvent[] = [];
  #count = 0;

  /** `epoch` must be larger than that of every ring before it. */
  constructor(epoch: number, size = RING_SIZE) {
    this.#epoch = epoch;
    this.#size = size;
  }

  get lastId(): string {
    return `${this.#epoch}-${this.#count}`;
  }

  push(event: Omit<RingEvent, 'id'>): RingEvent {
    this.#count += 1;
    const kept = { id: this.lastId, ...event };
    this.#events[(this.#count - 1) % this.#size] = kept;
    return kept;
  }

  /** Null when what came after this id is not known any more, or never was. */
  since(lastId: string): readonly RingEvent[] | null {
    const [, epoch, number] = /^(\d{1,16})-(\d{1,16})$/.exec(lastId) ?? [];
    const seen = Number(number);
    if (Number(epoch) !== this.#epoch || seen > this.#count || seen < this.#count - this.#size) return null;
    const missed: RingEvent[] = [];
    for (let each = seen; each < this.#count; each += 1) {
      const event = this.#events[each % this.#size];
      if (event !== undefined) missed.push(event);
    }
    return missed;
  }
}
