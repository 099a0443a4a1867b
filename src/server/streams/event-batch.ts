/** Store events that wait to be published: one entry per job, in the order of each job's first event. Pure. */
import type { StoreEvent, StoreEventType } from '../../core/ports/job-store.ts';

export interface GatheredJob {
  readonly id: string;
  readonly types: StoreEventType[];
  /** Every queue that the job was in since the last batch. */
  readonly queues: Set<string>;
  last: StoreEvent;
}

export interface Gathered {
  readonly jobs: readonly GatheredJob[];
  /** Queues whose settings changed. */
  readonly queues: readonly string[];
  /** Events were dropped: listeners must query again. */
  readonly isLost: boolean;
}

const MAX_JOBS = 10_000;
const MAX_TYPES = 20;

export class GatheredEvents {
  #jobs = new Map<string, GatheredJob>();
  #queues = new Set<string>();
  #isLost = false;

  get isEmpty(): boolean {
    return this.#jobs.size === 0 && this.#queues.size === 0 && !this.#isLost;
  }

  add(events: readonly StoreEvent[]): void {
    for (const event of events) {
      if (event.type === 'freed') continue;
      if (event.type === 'gap') {
        this.#isLost = true;
        continue;
      }
      if (event.type === 'queue') this.#queues.add(event.queue);
      else this.#addJob(event);
    }
    if (this.#jobs.size + this.#queues.size <= MAX_JOBS) return;
    this.take();
    this.#isLost = true;
  }

  /** Returns all entries and clears the batch. */
  take(): Gathered {
    const taken = { jobs: [...this.#jobs.values()], queues: [...this.#queues], isLost: this.#isLost };
    this.#jobs = new Map();
    this.#queues = new Set();
    this.#isLost = false;
    return taken;
  }

  #addJob(event: StoreEvent): void {
    const { id, type, queue } = event;
    const known = this.#jobs.get(id);
    if (known === undefined) {
      this.#jobs.set(id, { id, types: [type], queues: new Set([queue]), last: event });
      return;
    }
    known.last = event;
    known.queues.add(queue);
    if (known.types.at(-1) === type) return;
    // The last type is always kept.
    if (known.types.length === MAX_TYPES) known.types.pop();
    known.types.push(type);
  }
}
