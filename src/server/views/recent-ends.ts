/** Counts of recently completed jobs, by queue and in total. They come from the store, so that all nodes agree. */
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { SeriesPoint } from '../../core/statistics/series.ts';
import { SPANS } from '../../core/statistics/series.ts';
import type { ServerContext } from './context.ts';
import { storeNow } from './node-of.ts';

const MINUTES = 60;
const MINUTE_MS = SPANS.minute.ms;

export interface RecentEnds {
  /** Returns jobs done in each of the last minutes, oldest first; the last minute is incomplete. */
  minutes(queue?: string): readonly number[];
  /** Since midnight UTC. */
  readonly doneToday: number;
}

export async function recentEnds(context: ServerContext): Promise<RecentEnds> {
  const { jobs } = context.store;
  const now = storeNow(context);
  const first = (Math.floor(now / MINUTE_MS) - MINUTES + 1) * MINUTE_MS;
  const [minutes, hours] = await Promise.all([
    jobs.insight({ kind: 'series', span: 'minute', from: first }),
    jobs.insight({ kind: 'series', span: 'hour', from: Math.floor(now / DAY_MS) * DAY_MS }),
  ]);
  const byQueue = grouped(minutes);
  return {
    minutes: (queue) => line(queue === undefined ? minutes : (byQueue.get(queue) ?? []), first),
    doneToday: hours.reduce((sum, { done }) => sum + done, 0),
  };
}

function grouped(points: readonly SeriesPoint[]): Map<string, SeriesPoint[]> {
  const found = new Map<string, SeriesPoint[]>();
  for (const point of points) {
    const own = found.get(point.queue) ?? [];
    own.push(point);
    found.set(point.queue, own);
  }
  return found;
}

function line(points: readonly SeriesPoint[], first: number): readonly number[] {
  const values = Array.from({ length: MINUTES }, () => 0);
  for (const { at, done } of points) {
    const index = (at - first) / MINUTE_MS;
    if (index < MINUTES) values[index] = (values[index] ?? 0) + done;
  }
  return values;
}
