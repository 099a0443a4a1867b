/**
 * Tracked jobs: those that somebody wants to keep an eye on. A mark is a record of kind `tracked` under the job's id, so
 * that every store has them and a mark outlives nothing but itself: a job that is gone shows as gone until it is unmarked.
 *
 * A store tells of every mark that is put or taken away, in the order of all its events (`tracked`, `untracked`), so that
 * whoever follows tracked jobs knows at each event whether its job was one, without a look at the store.
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
  /** Null once it was deleted or pruned. */
  readonly job: Job | null;
}

export async function track({ jobs, records }: Store, id: string): Promise<{ readonly ok: true } | Refused> {
  const [job] = await jobs.find([id]);
  if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
  if ((await records.get(TRACKED_RECORD, id)) === null)
    await records.put({ kind: TRACKED_RECORD, key: id, value: '{}' });
  return { ok: true };
}

/** Also of a job that is gone. */
export async function untrack({ records }: Store, id: string): Promise<{ readonly ok: true } | Refused> {
  if ((await records.get(TRACKED_RECORD, id)) === null) return refuse('not-found', `tracked job ${id}`);
  await records.delete(TRACKED_RECORD, id);
  return { ok: true };
}

/** By the time they were marked, the latest first. */
export async function trackedJobs({ jobs, records }: Store): Promise<readonly TrackedJob[]> {
  const marks = await marksIn(records);
  const found: (Job | null)[] = [];
  for (let at = 0; at < marks.length; at += PAGE)
    found.push(...(await jobs.find(marks.slice(at, at + PAGE).map(({ id }) => id))));
  const tracked = marks.map((mark, place) => ({ ...mark, job: found[place] ?? null }));
  return tracked.sort((a, b) => b.trackedAt - a.trackedAt);
}

async function marksIn(records: Records): Promise<readonly { readonly id: string; readonly trackedAt: number }[]> {
  const marks: { id: string; trackedAt: number }[] = [];
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind: TRACKED_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    marks.push(...page.map(({ key, updatedAt }) => ({ id: key, trackedAt: updatedAt })));
    if (page.length < PAGE) return marks;
    after = page.at(-1)?.key;
  }
}

/** What a store tells when a mark is put or taken away; of a job that is gone, only its id is known. */
export function markEvent(id: string, isMarked: boolean, job: Job | undefined): StoreEvent {
  const type = isMarked ? 'tracked' : 'untracked';
  return { type, id, queue: job?.queue ?? '', state: job?.state ?? null };
}

/** The ids of tracked jobs: those there are at first, and from then on as the events say. */
export class TrackedIds {
  #ids = new Set<string>();
  #isLoaded = false;

  /**
   * Reads the marks, unless they are known. To be called when one listens already, and before the first event is taken in,
   * or the first one after a gap: what came meanwhile is said again by it.
   */
  async load(records: Records): Promise<void> {
    if (this.#isLoaded) return;
    this.#ids = new Set((await marksIn(records)).map(({ id }) => id));
    this.#isLoaded = true;
  }

  /** Marks may have come and gone without an event: the next `load` reads them again. */
  forget(): void {
    this.#isLoaded = false;
  }

  /** Takes in an event, in the order of events. Answers whether it is of a tracked job; the last is that it is none any more. */
  concerns({ type, id }: Pick<StoreEvent, 'type' | 'id'>): boolean {
    if (type === 'tracked') this.#ids.add(id);
    if (type === 'untracked') this.#ids.delete(id);
    return type === 'untracked' || this.#ids.has(id);
  }
}

/**
 * Hears of every change of a tracked job, of the marks, and of gaps. The answer comes when nothing will be missed any more.
 * After a gap the marks are read again; where that fails, the next event tries it once more.
 */
export async function followTracked(
  { jobs, records }: Pick<Store, 'jobs' | 'records'>,
  listener: EventListener,
): Promise<Unsubscribe> {
  const ids = new TrackedIds();
  /** Events that wait until the marks are known. */
  let waiting: StoreEvent[] | null = [];
  let isStale = true;
  const readMarks = async (): Promise<void> => {
    while (isStale) {
      ids.forget();
      isStale = false;
      await ids.load(records).catch((error: unknown) => {
        isStale = true;
        throw error;
      });
    }
  };
  const tellWaiting = (): void => {
    const events = waiting ?? [];
    waiting = null;
    tell(events);
  };
  const tell = (events: readonly StoreEvent[]): void => {
    const told = events.filter((event) => isGap(event) || ids.concerns(event));
    if (told.length > 0) listener(told);
  };
  const hear = (events: readonly StoreEvent[]): void => {
    if (events.some(isGap)) isStale = true;
    if (waiting !== null) return void waiting.push(...events);
    if (!isStale) return tell(events);
    waiting = [...events];
    void readMarks().then(tellWaiting, tellWaiting);
  };
  const unsubscribe = jobs.subscribe(hear);
  try {
    await readMarks();
  } catch (error) {
    unsubscribe();
    throw error;
  }
  tellWaiting();
  return unsubscribe;
}

const isGap = ({ type }: StoreEvent): boolean => type === 'gap';
