/**
 * The expected statistics in the model: every fact is kept and counted afresh. Must never import from core/operations,
 * nor the core's measurements and aggregates.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import type { Job } from '../../src/core/job/job.ts';
import type { FailureGroup } from '../../src/core/ports/job-store.ts';
import { bucketOf, bucketStart } from '../../src/core/statistics/histogram.ts';
import type { SeriesPoint } from '../../src/core/statistics/series.ts';
import type { DayStatistics, SpreadView } from '../../src/core/statistics/statistics.ts';
import type { Model } from './model.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const KEPT_HOURS = 60 * 24;
export type By = 'queue' | 'worker' | 'tag';

export interface Fact {
  readonly queue: string;
  readonly day: number;
  readonly at: number;
  readonly worker: string;
  readonly tags: readonly string[];
  readonly wait?: number;
  readonly run?: number;
  readonly ends: readonly string[];
  readonly group: string | null;
}

/** Returns the fact in a history row, given the job before it. */
export function factOf(before: Job, after: Job, row: HistoryRow): Fact | null {
  const { queue, tags, lease } = before;
  const base = { queue, tags, at: row.at, day: Math.floor(row.at / DAY_MS), ends: [], group: null };
  const age = (since: number): number => Math.max(0, row.at - since);
  if (row.event === 'claimed')
    return {
      ...base,
      worker: row.by ?? '',
      wait: age(Math.max(before.createdAt, before.runAt, before.freedAt ?? before.createdAt)),
    };
  if (lease === null || after.lease !== null || row.event === 'cancelled' || row.event === 'suspended') return null;
  const { worker, claimedAt } = lease;
  if (['completed', 'advanced', 'forwarded'].includes(row.event))
    return { ...base, worker, run: age(claimedAt) + (before.suspension?.ranMs ?? 0) };
  const hasFailed = after.state === 'failed';
  const isTry = ['failed', 'retried', 'resent'].includes(row.event);
  const ends = [
    ...(hasFailed ? ['failures'] : []),
    ...(isTry && !hasFailed ? ['retries'] : []),
    ...(isTry ? [] : ['interruptions']),
  ];
  const isGrouped = hasFailed || row.event === 'failed' || row.event === 'retried';
  return { ...base, worker, ends, group: isGrouped ? (after.failure?.group ?? null) : null };
}

/** Returns the statistics of every queue and day that is still kept. */
export function statistics(model: Model, by: By, now: number): readonly DayStatistics[] {
  const cells = new Map<string, { queue: string; day: number; of: string; facts: Fact[] }>();
  for (const fact of model.facts) {
    for (const of of namesOf(fact, by)) {
      const { queue, day } = fact;
      const key = JSON.stringify([queue, day, of]);
      const cell = cells.get(key) ?? { queue, day, of, facts: [] };
      cell.facts.push(fact);
      cells.set(key, cell);
    }
  }
  const today = Math.floor(now / DAY_MS);
  const kept = [...cells.values()].filter(
    // After a step back of the clock there are days in the future: they return when it has caught up.
    ({ queue, day }) => day <= today && day > today - model.settings(queue).statsDays,
  );
  kept.sort((a, b) => order(a.queue, b.queue) || a.day - b.day || order(a.of, b.of));
  return kept.map(({ queue, day, of, facts }) => {
    const hasBuckets = day > today - model.settings(queue).histogramDays;
    const ends = (name: string): number => facts.filter((fact) => fact.ends.includes(name)).length;
    return {
      queue,
      day: dayName(day),
      of,
      wait: spreadOf(facts, 'wait', hasBuckets),
      run: spreadOf(facts, 'run', hasBuckets),
      retries: ends('retries'),
      failures: ends('failures'),
      interruptions: ends('interruptions'),
    };
  });
}

/** Returns the ends by queue and hour, from a time on. */
export function hourly(model: Model, from: number, now: number): readonly SeriesPoint[] {
  const hourOf = (at: number): number => Math.floor(at / HOUR_MS);
  const isKept = (at: number): boolean => hourOf(at) <= hourOf(now) && hourOf(at) > hourOf(now) - KEPT_HOURS;
  const facts = model.facts.filter(({ at }) => at >= from && isKept(at));
  const ended = facts.filter(({ run, ends }) => run !== undefined || ends.includes('failures'));
  const keys = [...new Set(ended.map(({ queue, at }) => `${queue} ${hourOf(at)}`))];
  const points = keys.map((key) => {
    const own = ended.filter(({ queue, at }) => `${queue} ${hourOf(at)}` === key);
    const done = own.filter(({ run }) => run !== undefined).length;
    const [queue = '', hour] = key.split(' ');
    return { queue, at: Number(hour) * HOUR_MS, done, failed: own.length - done };
  });
  return points.sort((a, b) => order(a.queue, b.queue) || a.at - b.at);
}

/** Returns the days of a failure group. */
export function trendOf(
  model: Model,
  { queue, group, now }: { queue: string; group: string; now: number },
): FailureGroup['trend'] {
  const today = Math.floor(now / DAY_MS);
  const since = today - model.settings(queue).statsDays;
  const isKept = (day: number): boolean => day > since && day <= today;
  const facts = model.facts.filter((fact) => fact.queue === queue && fact.group === group && isKept(fact.day));
  if (facts.length === 0) return null;
  const days = [...new Set(facts.map(({ day }) => day))].sort((a, b) => a - b);
  const times = facts.map(({ at }) => at);
  return {
    firstAt: Math.min(...times),
    lastAt: Math.max(...times),
    days: days.map((day) => {
      const own = facts.filter((fact) => fact.day === day);
      const count = (end: string): number => own.filter(({ ends }) => ends.includes(end)).length;
      return { day: dayName(day), failures: count('failures'), retries: count('retries') };
    }),
  };
}

const dayName = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
const order = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

function namesOf({ worker, tags }: Fact, by: By): readonly string[] {
  if (by === 'queue') return [''];
  return by === 'worker' ? [worker] : [...new Set(tags)];
}

function spreadOf(facts: readonly Fact[], what: 'wait' | 'run', hasBuckets: boolean): SpreadView {
  const values = facts.flatMap((fact) => fact[what] ?? []);
  const count = values.length;
  const mean = count === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / count;
  const squares = values.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const starts = values.map((ms) => bucketStart(bucketOf(ms))).sort((a, b) => a - b);
  const histogram = [...new Set(starts)].map((from): [number, number] => [
    from,
    starts.filter((each) => each === from).length,
  ]);
  return { count, mean, variance: count < 2 ? 0 : squares / (count - 1), histogram: hasBuckets ? histogram : null };
}

/** Sums of doubles depend on their order: values within that error count as equal. */
export function nearly(expected: readonly DayStatistics[], actual: readonly DayStatistics[]): readonly DayStatistics[] {
  const near = (ours: SpreadView | undefined, theirs: SpreadView): SpreadView =>
    ours === undefined
      ? theirs
      : {
          ...theirs,
          mean: nearer(ours.mean, theirs.mean),
          variance: nearer(ours.variance, theirs.variance, lossOf(ours)),
        };
  return actual.map((each, index) => ({
    ...each,
    wait: near(expected[index]?.wait, each.wait),
    run: near(expected[index]?.run, each.run),
  }));
}

function nearer(ours: number, theirs: number, loss = 0): number {
  return Math.abs(ours - theirs) <= 1e-9 * Math.max(1, Math.abs(ours)) + loss ? ours : theirs;
}

/** Returns the precision that a double loses in differences of large and close numbers, for each addition. */
function lossOf({ count, mean, variance }: SpreadView): number {
  return 8 * count * Number.EPSILON * Math.abs(mean) * Math.sqrt(Math.max(1, variance));
}
