/**
 * Tracked jobs: jobs that an operator follows. A tracking record has kind `tracked` and the job's id as its key, so
 * every store supports it. The record outlives the job: a deleted job is listed as deleted until it is untracked.
 *
 * A store emits `tracked` and `untracked` in the order of all its events. A subscriber therefore knows at each event
 * whether its job is tracked, without a read of the store.
 */

import type { EventListener, StoreEvent, Unsubscribe } from '../ports/job-store.ts';
import type { Records } from '../ports/records.ts';
import { type Refused, refuse } from '../ports/refusal.ts';
import type { Store } from '../ports/store.ts';
import type { Job } from './job.ts';

export const TRACKED_RECORD = 'tracked';
const PAGE = 500;

export interface TrackedJob {
  readonly id: string;
  readonly trackedAt: number;
  /** Null once the job is deleted or pruned. */
  readonly job: Job | null;
}

export async function track({ jobs, records }: Store, id: string): Promise<{ readonly ok: true } | Refused> {
  const [job] = await jobs.find([id]);
  if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
  if ((await records.get(TRACKED_RECORD, id)) === null)
    await records.put({ kind: TRACKED_RECORD, key: id, value: '{}' });
  return { ok: true };
}

/** Removes the tracking record, also of a deleted job. */
export async function untrack({ records }: Store, id: string): Promise<{ readonly ok: true } | Refused> {
  if ((await records.get(TRACKED_RECORD, id)) === null) return refuse('not-found', `tracked job ${id}`);
  await records.delete(TRACKED_RECORD, id);
  return { ok: true };
}

/** Returns the tracked jobs, the latest tracked first. */
export async function trackedJobs({ jobs, records }: Store): Promise<readonly TrackedJob[]> {
  const tracked = await trackingRecords(records);
  const found: (Job | null)[] = [];
  for (let at = 0; at < tracked.length; at += PAGE)
    found.push(...(await jobs.find(tracked.slice(at, at + PAGE).map(({ id }) => id))));
  const withJobs = tracked.map((record, index) => ({ ...record, job: found[index] ?? null }));
  return withJobs.sort((a, b) => b.trackedAt - a.trackedAt);
}

async function trackingRecords(
  records: Records,
): Promise<readonly { readonly id: string; readonly trackedAt: number }[]> {
  const tracked: { id: string; trackedAt: number }[] = [];
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind: TRACKED_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    tracked.push(...page.map(({ key, updatedAt }) => ({ id: key, trackedAt: updatedAt })));
    if (page.length < PAGE) return tracked;
    after = page.at(-1)?.key;
  }
}

/** Creates the event of a tracking record that was added or removed. Of a deleted job only the id is known. */
export function trackingEvent(id: string, isTracked: boolean, job: Job | undefined): StoreEvent {
  const type = isTracked ? 'tracked' : 'untracked';
  return { type, id, queue: job?.queue ?? '', state: job?.state ?? null };
}

/** The ids of tracked jobs: read once, then kept up to date by events. */
export class TrackedIds {
  #ids = new Set<string>();
  #isLoaded = false;

  /**
   * Reads the tracking records, unless they are loaded. Call it after subscribing, and before the first event is
   * applied (or the first event after a gap): events that arrive meanwhile are applied again.
   */
  async load(records: Records): Promise<void> {
    if (this.#isLoaded) return;
    this.#ids = new Set((await trackingRecords(records)).map(({ id }) => id));
    this.#isLoaded = true;
  }

  /** Discards the ids after a gap, when records may have changed without an event: the next `load` reads them again. */
  forget(): void {
    this.#isLoaded = false;
  }

  /**
   * Applies an event, in the order of events. Returns whether it concerns a tracked job, including the event that
   * untracks it.
   */
  concerns({ type, id }: Pick<StoreEvent, 'type' | 'id'>): boolean {
    if (type === 'tracked') this.#ids.add(id);
    if (type === 'untracked') this.#ids.delete(id);
    return type === 'untracked' || this.#ids.has(id);
  }
}

/**
 * Subscribes to every change of a tracked job, to tracking records, and to gaps. Resolves once no event can be missed.
 * After a gap the tracking records are read again. If that fails, the gap is emitted, other events wait, and the next
 * event triggers another read.
 */
export async function followTracked(
  { jobs, records }: Pick<Store, 'jobs' | 'records'>,
  listener: EventListener,
): Promise<Unsubscribe> {
  const ids = new TrackedIds();
  /** Events that wait until the tracking records are loaded. */
  let waiting: StoreEvent[] = [];
  let isStale = true;
  let isReading = true;
  const reload = async (): Promise<void> => {
    while (isStale) {
      ids.forget();
      isStale = false;
      await ids.load(records).catch((error: unknown) => {
        isStale = true;
        throw error;
      });
    }
  };
  const emit = (events: readonly StoreEvent[]): void => {
    const relevant = events.filter((event) => isGap(event) || ids.concerns(event));
    if (relevant.length > 0) listener(relevant);
  };
  const emitWaiting = (): void => {
    isReading = false;
    emit(waiting.splice(0));
  };
  const emitGaps = (): void => {
    isReading = false;
    const [gap] = waiting.filter(isGap);
    waiting = waiting.filter((event) => !isGap(event)).slice(-MAX_WAITING);
    if (gap !== undefined) listener([gap]);
  };
  const onEvents = (events: readonly StoreEvent[]): void => {
    if (events.some(isGap)) isStale = true;
    if (!isStale && !isReading) return emit(events);
    waiting.push(...events);
    if (isReading) return;
    isReading = true;
    void reload().then(emitWaiting, emitGaps);
  };
  const unsubscribe = jobs.subscribe(onEvents);
  try {
    await reload();
  } catch (error) {
    unsubscribe();
    throw error;
  }
  emitWaiting();
  return unsubscribe;
}

/** Events that wait while the tracking records cannot be read. Older ones are dropped: their gap was emitted. */
const MAX_WAITING = 10_000;

const isGap = ({ type }: StoreEvent): boolean => type === 'gap';
