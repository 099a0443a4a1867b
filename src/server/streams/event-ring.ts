/**
 * The last events, each with an id that only grows, also over restarts: `<epoch>-<number>`. Who comes back with the id
 * it saw last gets what it missed, or is told that this is no longer known.
 */

import type { StoreEventType } from '../../core/ports/job-store.ts';
import { formatServerEvent } from './event-stream.ts';

export interface RingEvent {
  readonly id: string;
  /** The name of the message. */
  readonly event: string;
  /** The message as it is written to every stream: formatted once for all readers. */
  readonly text: string;
  /** What it concerns, for those who asked for less than everything. */
  readonly job: string | null;
  readonly queues: readonly string[];
  /** What happened to the job, in its order. */
  readonly types: readonly StoreEventType[];
  /** Whether the job was tracked when it happened, or its mark was taken away. */
  readonly isTracked: boolean;
}

/** An event before it has an id; `data` is its content as JSON text. */
export type NewEvent = Omit<RingEvent, 'id' | 'text'> & { readonly data: string };

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

  push({ data, ...event }: NewEvent): RingEvent {
    this.#count += 1;
    const id = this.lastId;
    const kept = { id, ...event, text: formatServerEvent({ id, event: event.event, data }) };
    this.#events[(this.#count - 1) % this.#size] = kept;
    return kept;
  }

  /** Returns at most `most` events that came after this id; null when they are not known any more, or never were. */
  since(lastId: string, most: number = this.#size): readonly RingEvent[] | null {
    const [, epoch, number] = /^(\d{1,16})-(\d{1,16})$/.exec(lastId) ?? [];
    const seen = Number(number);
    if (Number(epoch) !== this.#epoch || seen > this.#count || seen < this.#count - this.#size) return null;
    const missed: RingEvent[] = [];
    for (let each = seen; each < Math.min(this.#count, seen + most); each += 1) {
      const event = this.#events[each % this.#size];
      if (event !== undefined) missed.push(event);
    }
    return missed;
  }
}
