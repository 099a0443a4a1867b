/**
 * A ring buffer of the last events. Each has an id that only grows, even over restarts: `<epoch>-<number>`. A reader that
 * resumes with the last id it saw gets the missed events, or null if they were overwritten.
 */
import type { StoreEventType } from '../../core/ports/job-store.ts';
import { formatServerEvent } from './event-stream.ts';

export interface RingEvent {
  readonly id: string;
  /** The event name of the message. */
  readonly event: string;
  /** The message in stream format, formatted once for all readers. */
  readonly text: string;
  /** Job and queues, for readers with a filter. */
  readonly job: string | null;
  readonly queues: readonly string[];
  /** The event types of the job, in order. */
  readonly types: readonly StoreEventType[];
  /** Whether the job was tracked at that time, or tracking of it ended. */
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

  /** `epoch` must be larger than that of every earlier ring. */
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

  /** Returns at most `limit` events after this id; null if they were overwritten or the id is unknown. */
  since(lastId: string, limit: number = this.#size): readonly RingEvent[] | null {
    const [, epoch, number] = /^(\d{1,16})-(\d{1,16})$/.exec(lastId) ?? [];
    const seen = Number(number);
    if (Number(epoch) !== this.#epoch || seen > this.#count || seen < this.#count - this.#size) return null;
    const missed: RingEvent[] = [];
    for (let each = seen; each < Math.min(this.#count, seen + limit); each += 1) {
      const event = this.#events[each % this.#size];
      if (event !== undefined) missed.push(event);
    }
    return missed;
  }
}
