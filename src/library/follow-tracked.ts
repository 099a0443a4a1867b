/** Follows tracked jobs: every change of one of them, as events. */
import { TrackedIds } from '../core/job/tracked-jobs.ts';
import type { EventListener, StoreEvent, Unsubscribe } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';

/**
 * Subscribes to every change of a tracked job, to tracking records, and to gaps. Resolves once no event can be missed.
 * After a gap the tracking records are read again. If that fails, the gap is emitted, other events wait, and the read is
 * repeated.
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
  let isFollowing = true;
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
  const emitGapsAndRetry = (): void => {
    const [gap] = waiting.filter(isGap);
    waiting = waiting.filter((event) => !isGap(event)).slice(-MAX_WAITING);
    if (gap !== undefined) listener([gap]);
    if (isFollowing) setTimeout(() => void reload().then(emitWaiting, emitGapsAndRetry), RETRY_MS).unref();
  };
  const onEvents = (events: readonly StoreEvent[]): void => {
    if (events.some(isGap)) isStale = true;
    if (!isStale && !isReading) return emit(events);
    waiting.push(...events);
    if (isReading) return;
    isReading = true;
    void reload().then(emitWaiting, emitGapsAndRetry);
  };
  const unsubscribeEvents = jobs.subscribe(onEvents);
  const unsubscribe = (): void => {
    isFollowing = false;
    unsubscribeEvents();
  };
  try {
    await reload();
  } catch (error) {
    unsubscribe();
    throw error;
  }
  emitWaiting();
  return unsubscribe;
}

/** How long after a failed read of the tracking records the next one begins. */
const RETRY_MS = 500;
/** Events that wait while the tracking records cannot be read. Older ones are dropped: their gap was emitted. */
const MAX_WAITING = 10_000;

const isGap = ({ type }: StoreEvent): boolean => type === 'gap';
