/**
 * From what the store tells to what pages hear. Changes are gathered for a tenth of a second, so that a job that speaks
 * without end is ten messages a second, and each message carries the row of its job, looked up once for all readers.
 *
 * It never holds the store up, and forgets no change without saying so.
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
  /** Where somebody stands who begins now. */
  readonly lastId: string;
  /** At most so many events that came after this id; null when that is no longer known. */
  since(lastId: string, most: number): readonly RingEvent[] | null;
  /** Calls the listener whenever `since` has more to give, until the answer is called. */
  listen(wake: () => void): () => void;
  /** The row of one job as it is now. */
  rowOf(job: Job): Promise<JobRow>;
  stop(): void;
}

const GATHER_MS = 100;
/** Readers that are woken in one turn of the event loop: what they write leaves the process before the next ones write. */
const WOKEN_AT_ONCE = 50;

export function openEventFeed(sources: RowSources): EventFeed {
  const feed = new Feed(sources);
  const unsubscribe = sources.store.jobs.subscribe((events) => feed.take(events));
  return {
    get lastId() {
      return feed.ring.lastId;
    },
    since: (lastId, most) => feed.ring.since(lastId, most),
    listen: (wake) => feed.listen(wake),
    rowOf: (job) => feed.rows.of(job),
    stop() {
      unsubscribe();
      feed.stop();
    },
  };
}

type About = Pick<RingEvent, 'job' | 'queues' | 'types' | 'isTracked'>;
const ABOUT_NO_JOB: About = { job: null, queues: [], types: [], isTracked: false };

class Feed {
  readonly ring: EventRing;
  readonly rows: JobRows;
  readonly #listeners = new Set<() => void>();
  readonly #gathered = new GatheredEvents();
  readonly #tracked = new TrackedIds();
  readonly #store: RowSources['store'];
  #timer: NodeJS.Timeout | null = null;
  #toldAt = 0;
  #isTelling = false;
  #isStopped = false;

  constructor(sources: RowSources) {
    this.ring = new EventRing(sources.now());
    this.rows = new JobRows(sources);
    this.#store = sources.store;
  }

  take(events: readonly StoreEvent[]): void {
    this.#gathered.add(events);
    this.#tellSoon();
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

  /** One telling after the other: a slow look-up must not let a later change overtake an earlier one. */
  #tellSoon(): void {
    if (this.#timer !== null || this.#isTelling || this.#isStopped || this.#gathered.isEmpty) return;
    const waitMs = Math.max(0, this.#toldAt + GATHER_MS - performance.now());
    this.#timer = setTimeout(() => void this.#tell(), waitMs).unref();
  }

  async #tell(): Promise<void> {
    this.#timer = null;
    this.#toldAt = performance.now();
    this.#isTelling = true;
    await this.#tellAll(this.#gathered.take());
    await this.#wakeAll();
    this.#isTelling = false;
    this.#tellSoon();
  }

  async #tellAll({ jobs, queues, isLost }: Gathered): Promise<void> {
    if (isLost) this.#tracked.forget();
    const isKnown = await this.#readMarks();
    if (isLost || !isKnown) this.#push('reset', {}, ABOUT_NO_JOB);
    for (const queue of queues) {
      this.rows.forget(queue);
      this.#push('queue', { type: 'queue', queue } satisfies QueueEvent, { ...ABOUT_NO_JOB, queues: [queue] });
    }
    // Where nobody listens nobody needs rows; who comes later for what was missed asks for the jobs.
    const wanted = this.#listeners.size === 0 ? [] : jobs.filter(({ last }) => last.type !== 'deleted');
    const rows = await this.rows.find(wanted.map(({ id }) => id));
    for (const job of jobs) {
      this.#push('job', toEvent(job, rows.get(job.id) ?? null), {
        job: job.id,
        queues: [...job.queues],
        types: job.types,
        // Asked of every change, in their order: marks come and go by them.
        isTracked: job.types.filter((type) => this.#tracked.concerns({ type, id: job.id })).length > 0,
      });
    }
  }

  /** False while the store is away: which jobs are tracked may have changed, and every reader is told to begin anew. */
  async #readMarks(): Promise<boolean> {
    try {
      await this.#tracked.load(this.#store.records);
      return true;
    } catch {
      return false;
    }
  }

  #push(event: string, data: object, about: About): void {
    this.ring.push({ event, data: JSON.stringify(data), ...about });
  }

  async #wakeAll(): Promise<void> {
    let woken = 0;
    for (const wake of this.#listeners) {
      wake();
      woken += 1;
      if (woken % WOKEN_AT_ONCE === 0) await nextTurn();
    }
  }
}

function toEvent({ id, types, last: { type, queue, state } }: GatheredJob, row: JobRow | null): JobEvent {
  return { type, types, id, queue, state, row };
}
