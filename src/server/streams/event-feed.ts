/**
 * Turns store events into messages for event streams. Events are batched for a tenth of a second, so that a busy job makes
 * at most ten messages a second. Each message has the row of its job, which is read once for all readers.
 *
 * The feed never blocks the store. It drops no event without a `reset` message.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Job } from '../../core/job/job.ts';
import { TrackedIds } from '../../core/job/tracked-jobs.ts';
import type { StoreEvent } from '../../core/ports/job-store.ts';
import type { JobEvent, JobRow, QueueEvent } from '../../wire/job-event.ts';
import type { Gathered, GatheredJob } from './event-batch.ts';
import { GatheredEvents } from './event-batch.ts';
import type { RingEvent } from './event-ring.ts';
import { EventRing } from './event-ring.ts';
import type { RowSources } from './job-rows.ts';
import { JobRows } from './job-rows.ts';

export interface EventFeed {
  /** The start position of a new reader. */
  readonly lastId: string;
  /** Returns at most `limit` events after this id; null if they are no longer available. */
  since(lastId: string, limit: number): readonly RingEvent[] | null;
  /** Calls the listener when `since` has new events. Returns a function that unsubscribes. */
  listen(wake: () => void): () => void;
  /** Returns the current row of a job. */
  rowOf(job: Job): Promise<JobRow>;
  stop(): void;
}

const BATCH_MS = 100;
/** Readers to wake in one turn of the event loop: their data leaves the process before the next readers write. */
const WAKE_LIMIT = 50;

export function openEventFeed(sources: RowSources): EventFeed {
  const feed = new Feed(sources);
  const unsubscribe = sources.store.jobs.subscribe((events) => feed.take(events));
  return {
    get lastId() {
      return feed.ring.lastId;
    },
    since: (lastId, limit) => feed.ring.since(lastId, limit),
    listen: (wake) => feed.listen(wake),
    rowOf: (job) => feed.rows.of(job),
    stop() {
      unsubscribe();
      feed.stop();
    },
  };
}

type Subject = Pick<RingEvent, 'job' | 'queues' | 'types' | 'isTracked'>;
const NO_JOB: Subject = { job: null, queues: [], types: [], isTracked: false };

class Feed {
  readonly ring: EventRing;
  readonly rows: JobRows;
  readonly #listeners = new Set<() => void>();
  readonly #gathered = new GatheredEvents();
  readonly #tracked = new TrackedIds();
  readonly #store: RowSources['store'];
  #timer: NodeJS.Timeout | null = null;
  #publishedAt = 0;
  #isPublishing = false;
  #isStopped = false;

  constructor(sources: RowSources) {
    this.ring = new EventRing(sources.now());
    this.rows = new JobRows(sources);
    this.#store = sources.store;
  }

  take(events: readonly StoreEvent[]): void {
    this.#gathered.add(events);
    this.#schedule();
  }

  listen(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => void this.#listeners.delete(wake);
  }

  stop(): void {
    this.#isStopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#listeners.clear();
  }

  /** Publishes one batch at a time: with a slow read, a later change could otherwise overtake an earlier one. */
  #schedule(): void {
    if (this.#timer !== null || this.#isPublishing || this.#isStopped || this.#gathered.isEmpty) return;
    const waitMs = Math.max(0, this.#publishedAt + BATCH_MS - performance.now());
    this.#timer = setTimeout(() => void this.#publish(), waitMs).unref();
  }

  async #publish(): Promise<void> {
    this.#timer = null;
    this.#publishedAt = performance.now();
    this.#isPublishing = true;
    await this.#publishBatch(this.#gathered.take());
    await this.#wakeAll();
    this.#isPublishing = false;
    this.#schedule();
  }

  async #publishBatch({ jobs, queues, isLost }: Gathered): Promise<void> {
    if (isLost) this.#tracked.forget();
    const isKnown = await this.#loadTracked();
    if (isLost || !isKnown) this.#push('reset', {}, NO_JOB);
    for (const queue of queues) {
      this.rows.forget(queue);
      this.#push('queue', { type: 'queue', queue } satisfies QueueEvent, { ...NO_JOB, queues: [queue] });
    }
    // Without listeners no rows are read; a reader that resumes later queries the jobs itself.
    const wanted = this.#listeners.size === 0 ? [] : jobs.filter(({ last }) => last.type !== 'deleted');
    const rows = await this.rows.find(wanted.map(({ id }) => id));
    for (const job of jobs) {
      this.#push('job', toEvent(job, rows.get(job.id) ?? null), {
        job: job.id,
        queues: [...job.queues],
        types: job.types,
        // Evaluated for every event in order, since `tracked` and `untracked` events change the set.
        isTracked: job.types.filter((type) => this.#tracked.concerns({ type, id: job.id })).length > 0,
      });
    }
  }

  /** Returns false while the store is unavailable: the tracked jobs may have changed, so every reader must start again. */
  async #loadTracked(): Promise<boolean> {
    try {
      await this.#tracked.load(this.#store.records);
      return true;
    } catch {
      return false;
    }
  }

  #push(event: string, data: object, subject: Subject): void {
    this.ring.push({ event, data: JSON.stringify(data), ...subject });
  }

  async #wakeAll(): Promise<void> {
    let woken = 0;
    for (const wake of this.#listeners) {
      wake();
      woken += 1;
      if (woken % WAKE_LIMIT === 0) await nextTurn();
    }
  }
}

function toEvent({ id, types, last: { type, queue, state } }: GatheredJob, row: JobRow | null): JobEvent {
  return { type, types, id, queue, state, row };
}
