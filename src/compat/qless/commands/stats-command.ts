/** `stats`: a queue's day in the shape of qless, computed from Longhaul's statistics: in seconds, and in 148 buckets. */
import { bucketOf, DAY_MS, type Histogram, LAST_BUCKET } from '../../../core/statistics/histogram.ts';
import { type DayStatistics, dayOf, dayText, type SpreadView } from '../../../core/statistics/statistics.ts';
import type { Call, Command } from '../arguments.ts';
import { asText, numberArgument, queueArgument, wrong } from '../arguments.ts';
import { EVERY, jobsOf } from '../pages.ts';
import { notifiedAt } from '../qless-history.ts';

const NOTHING: SpreadView = { count: 0, mean: 0, variance: 0, histogram: null };
const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
const BUCKETS = 148;

export const statsCommands: Readonly<Record<string, Command>> = {
  stats: async (call, [queue, date]) => {
    const name = queueArgument(queue, 'Stats');
    const day = dayOf(timeOf(numberArgument(date, 'Stats', 'date')));
    const found = await dayOfQueue(call, name, day);
    const failed = await jobsOf(call, { queue: name, state: 'failed' }, EVERY);
    return {
      retries: (found?.retries ?? 0) + (found?.interruptions ?? 0) + (await toldOn(call, name, day)),
      failures: found?.failures ?? 0,
      failed: failed.filter(({ endedAt }) => dayOf(endedAt ?? -DAY_MS) === day).length,
      wait: spread(found?.wait ?? NOTHING),
      run: spread(found?.run ?? NOTHING),
    };
  },
};

/** qless counts a retry when it notifies the worker; Longhaul counts it when the job is taken back. */
async function toldOn(call: Call, queue: string, day: number): Promise<number> {
  const running = await jobsOf(call, { queue, state: 'running' }, EVERY);
  const notified = running.map(async ({ id, lease }) =>
    notifiedAt(await call.longhaul.store.jobs.history(id), lease?.token ?? null),
  );
  return (await Promise.all(notified)).filter((at) => at !== null && dayOf(at) === day).length;
}

/** The largest time of a date in JavaScript, in seconds. */
const MOST_SECONDS = 8.64e12;

function timeOf(seconds: number): number {
  if (seconds >= 0 && seconds <= MOST_SECONDS) return seconds * 1_000;
  return wrong(`Stats(): Arg "date" must be the seconds of a day since 1970: ${seconds}`);
}

/** Reads a date of the first document: any second of the day, or YYYY-MM-DD. */
export function dayArgument(date: unknown): number {
  const isText = typeof date === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(date);
  const ms = isText ? Date.parse(`${date}T00:00:00Z`) : timeOf(numberArgument(date, 'Stats', 'date'));
  return Number.isNaN(ms) ? wrong(`Stats(): Arg "date" is no day: ${asText(date)}`) : dayOf(ms);
}

export async function dayOfQueue({ longhaul }: Call, queue: string, day: number): Promise<DayStatistics | undefined> {
  const text = dayText(day);
  const [found] = await longhaul.store.jobs.insight({ kind: 'statistics', queue, from: text, to: text });
  return found;
}

function spread({ count, mean, variance, histogram }: SpreadView): Readonly<Record<string, unknown>> {
  return {
    count,
    mean: mean / 1_000,
    std: Math.sqrt(variance) / 1_000,
    histogram: counts(histogram, BUCKETS, placeOf),
  };
}

function counts(histogram: Histogram | null, length: number, place: (ms: number) => number): readonly number[] {
  const sums = Array.from({ length }, () => 0);
  for (const [fromMs, count] of histogram ?? []) sums[place(fromMs)] = (sums[place(fromMs)] ?? 0) + count;
  return sums;
}

/** 60 seconds, 59 minutes, 23 hours and 6 days; longer times are in the last bucket. */
function placeOf(ms: number): number {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < MINUTE) return seconds;
  if (seconds < HOUR) return 59 + Math.floor(seconds / MINUTE);
  if (seconds < DAY) return 118 + Math.floor(seconds / HOUR);
  return Math.min(BUCKETS - 1, 141 + Math.floor(seconds / DAY));
}

/** Seconds, minutes, quarter hours, hours and days: Longhaul's own buckets, but one for all that is below a second. */
const FIRST_SECOND = bucketOf(1_000);

export function documentHistogram(histogram: Histogram | null): readonly number[] {
  return counts(histogram, LAST_BUCKET - FIRST_SECOND + 2, (ms) => Math.max(0, bucketOf(ms) - FIRST_SECOND + 1));
}
