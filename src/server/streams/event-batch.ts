/** Changes that wait to be told, one entry a job, in the order in which the jobs were first heard of. Pure. */
import type { StoreEvent, StoreEventType } from '../../core/ports/job-store.ts';

export interface GatheredJob {
  readonly id: string;
  readonly types: StoreEventType[];
  /** Every queue that the job was in meanwhile. */
  readonly queues: Set<string>;
  last: StoreEvent;
}

export interface Gathered {
  readonly jobs: readonly GatheredJob[];
  /** Queues whose settings changed. */
  readonly queues: readonly string[];
  /** More came than could be kept: whoever listens must ask for everything anew. */
  readonly isLost: boolean;
}

const MOST_JOBS = 10_000;
const MOST_TYPES = 20;

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
    if (this.#jobs.size + this.#queues.size <= MOST_JOBS) return;
    this.take();
    this.#isLost = true;
  }

  /** All of it; nothing waits any more. */
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
    // The last of them is always told.
    if (known.types.length === MOST_TYPES) known.types.pop();
    known.types.push(type);
  }
}
