/**
 * Statistics of jobs, by queue and UTC day: in total, and by tag, worker and failure group.
 *
 * A claim counts the wait, from when the job could be claimed, on the day of the claim. The end of an attempt counts on
 * the day of the end. Every change of a job passes `measurementOf`, so only what is in the history is counted.
 */

import { byText } from '../input/text-order.ts';
import type { HistoryEvent, HistoryRow } from '../job/history.ts';
import type { Job, RunningJob } from '../job/job.ts';
import { isRunning, readySince } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import type { Aggregate, End, Spread } from './aggregate.ts';
import { addValue, varianceOf } from './aggregate.ts';
import type { Histogram } from './histogram.ts';
import { bucketStart, DAY_MS } from './histogram.ts';

/** The dimensions of a day's statistics; `queue` has all jobs together. */
export const CELL_KINDS = ['queue', 'tag', 'worker', 'group'] as const;
export type CellKind = (typeof CELL_KINDS)[number];

/**
 * Tags and groups are unbounded: beyond this many cells of a queue and a day, new ones are counted only in the total.
 */
export const MAX_CELLS = 1_000;

/**
 * A store may append measurements to a log and add them to the cells later: readers add pending entries in memory.
 * Maintenance adds them to the cells, and so does the call that finds more entries than this.
 */
export const MAX_LOG_ENTRIES = 200;

export interface Measurement {
  readonly queue: string;
  readonly at: number;
  readonly worker: string;
  readonly tags: readonly string[];
  readonly waitMs: number | null;
  readonly runMs: number | null;
  readonly ends: readonly End[];
  /** The failure group, if there was a failure. */
  readonly group: string | null;
}

export function measurementOf(before: Job, { job: after, row }: Transition): Measurement | null {
  if (row.event === 'claimed') return waited(before, row);
  if (!isRunning(before) || isRunning(after)) return null;
  if (COMPLETIONS.has(row.event)) return ran(before, row.at);
  const ends = endsOf(row.event, after);
  if (ends.length === 0) return null;
  const { queue, tags, lease } = before;
  const group = groupOf(row.event, after);
  return { queue, at: row.at, worker: lease.worker, tags, waitMs: null, runMs: null, ends, group };
}

// Written out: these two run for every job, and object spread costs more than all the rest.
function waited(job: Job, { at, by }: HistoryRow): Measurement {
  const { queue, tags } = job;
  const waitMs = since(readySince(job), at);
  return { queue, at, worker: by ?? '', tags, waitMs, runMs: null, ends: NO_ENDS, group: null };
}

function ran({ queue, tags, lease, suspension }: RunningJob, at: number): Measurement {
  const runMs = since(lease.claimedAt, at) + (suspension === null ? 0 : suspension.ranMs);
  return { queue, at, worker: lease.worker, tags, waitMs: null, runMs, ends: NO_ENDS, group: null };
}

const NO_ENDS: readonly End[] = [];
const COMPLETIONS: ReadonlySet<HistoryEvent> = new Set<HistoryEvent>(['completed', 'advanced', 'forwarded']);
const FAILED_TRIES: ReadonlySet<HistoryEvent> = new Set<HistoryEvent>(['failed', 'retried', 'resent']);
const INTERRUPTIONS: ReadonlySet<HistoryEvent> = new Set<HistoryEvent>(['lost', 'released', 'moved', 'requeued']);

/** Returns the duration, at least 0: the clock may have been set back. */
function since(from: number, to: number): number {
  return Math.max(0, to - from);
}

/**
 * Returns how an attempt ended. A job that fails because its worker was lost too often counts as interrupted and
 * failed.
 */
function endsOf(event: HistoryEvent, after: Job): readonly End[] {
  const ends: End[] = [];
  if (after.state === 'failed') ends.push('failures');
  else if (FAILED_TRIES.has(event)) ends.push('retries');
  if (INTERRUPTIONS.has(event)) ends.push('interruptions');
  return ends;
}

/** Returns the failure group. A resend has none, unless it exceeded the limit. */
function groupOf(event: HistoryEvent, after: Job): string | null {
  return after.state === 'failed' || event === 'failed' || event === 'retried' ? (after.failure?.group ?? null) : null;
}

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Returns the cells that a measurement counts in. A group's cell only has counts and times. */
export function cellsOf({
  worker,
  tags,
  group,
}: Pick<Measurement, 'worker' | 'tags' | 'group'>): readonly (readonly [CellKind, string])[] {
  const cells: [CellKind, string][] = [
    ['queue', ''],
    ['worker', worker],
  ];
  for (const tag of new Set(tags)) cells.push(['tag', tag]);
  if (group !== null) cells.push(['group', group]);
  return cells;
}

export function measure(figures: Aggregate, { at, waitMs, runMs, ends }: Measurement): void {
  if (waitMs !== null) addValue(figures.wait, waitMs);
  if (runMs !== null) addValue(figures.run, runMs);
  for (const end of ends) figures.ends[end] += 1;
  figures.firstAt = Math.min(figures.firstAt, at);
  figures.lastAt = Math.max(figures.lastAt, at);
}

/** Orders cells by day, then by kind and name. */
export function cellOrder(a: StoredCell, b: StoredCell): number {
  return a.day - b.day || byText(a.kind, b.kind) || byText(a.name, b.name);
}

/** One cell as a store keeps it. */
export interface StoredCell {
  readonly day: number;
  readonly kind: CellKind;
  readonly name: string;
  readonly figures: Aggregate;
}

export interface SpreadView {
  readonly count: number;
  readonly mean: number;
  readonly variance: number;
  /** Null once it has expired. */
  readonly histogram: Histogram | null;
}

/** The statistics of a queue and a UTC day, in total or of one tag or worker. */
export interface DayStatistics {
  /** The queue. */
  readonly queue: string;
  /** As YYYY-MM-DD. */
  readonly day: string;
  /** The tag or the worker; empty for the queue as a whole. */
  readonly of: string;
  /** The waiting times of claimed jobs, in milliseconds. */
  readonly wait: SpreadView;
  /** The run times of completed attempts, in milliseconds. */
  readonly run: SpreadView;
  /** How many attempts were retried. */
  readonly retries: number;
  /** How many jobs failed. */
  readonly failures: number;
  /** How many attempts were interrupted. */
  readonly interruptions: number;
}

export function statisticsOf(queue: string, { day, name, figures }: StoredCell): DayStatistics {
  const { wait, run, ends, hasBuckets } = figures;
  const view = (spread: Spread): SpreadView => ({
    count: spread.count,
    mean: spread.mean,
    variance: varianceOf(spread),
    histogram: hasBuckets ? histogramOf(spread) : null,
  });
  return { queue, day: dayText(day), of: name, wait: view(wait), run: view(run), ...ends };
}

function histogramOf({ buckets }: Spread): Histogram {
  const pairs = [...buckets].map(([bucket, count]): [number, number] => [bucketStart(bucket), count]);
  return pairs.sort(([a], [b]) => a - b);
}

export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Parses a day: `2026-11-15` as a number of days. */
export function dayNumber(day: string): number {
  return dayOf(Date.parse(`${day}T00:00:00Z`));
}

/** Returns the first day that is kept, and the first day that keeps histograms; today is included. */
export function keptSince(
  { statsDays, histogramDays }: { readonly statsDays: number; readonly histogramDays: number },
  now: number,
): { readonly day: number; readonly histogramDay: number } {
  return { day: dayOf(now) - statsDays + 1, histogramDay: dayOf(now) - histogramDays + 1 };
}
