/**
 * Queries about more than single jobs: one call of the port, `insight`, with a kind for each query.
 *
 * A new query is an entry in `Insights`; the compiler then lists what is missing. No query is optional for a store.
 */

import { byText } from '../input/text-order.ts';
import type { EndedState } from '../job/job.ts';
import type { Prunable } from '../lifecycle/prunable.ts';
import type { WaitReason } from '../limits/throttle.ts';
import type { SeriesPoint, Span } from '../statistics/series.ts';
import type { DayStatistics } from '../statistics/statistics.ts';
import type { QueueStorage } from '../statistics/storage.ts';
import type { FailureGroup } from './job-store.ts';

/** Every kind with its query and its result. */
export interface Insights {
  /** Failed jobs by failure group, the most frequent first; of one queue or of all. */
  readonly failures: { readonly query: FailuresQuery; readonly result: readonly FailureGroup[] };
  /** By queue and day, the oldest day first, as long as they are kept. */
  readonly statistics: { readonly query: StatisticsQuery; readonly result: readonly DayStatistics[] };
  /** How many jobs ended, by minute or by hour, as long as they are kept; by queue, then by time. */
  readonly series: { readonly query: SeriesQuery; readonly result: readonly SeriesPoint[] };
  /** What retention would delete now, by queue and kind. */
  readonly prunable: { readonly query: { readonly queue?: string }; readonly result: readonly Prunable[] };
  /** Jobs of a queue and a state that ended at `from` or later, oldest end first. */
  readonly ended: { readonly query: EndedQuery; readonly result: readonly EndedJob[] };
  /** Running jobs of a queue whose lease has ended, the earliest end first. */
  readonly stalled: { readonly query: StalledQuery; readonly result: readonly StalledJob[] };
  /** The size of the ended jobs of each queue. */
  readonly storage: { readonly query: { readonly queue?: string }; readonly result: readonly QueueStorage[] };
  /** The tags of most jobs, in any state. */
  readonly tags: { readonly query: { readonly limit: number }; readonly result: readonly TagCount[] };
  /** The throttles of which a job holds a slot, including keys, and the buckets that let no job start, by address. */
  readonly throttles: { readonly query: object; readonly result: readonly ThrottleUse[] };
  /** For each of these jobs: the one limit that keeps it from starting now, or null. */
  readonly brakes: {
    readonly query: { readonly ids: readonly string[] };
    readonly result: readonly (WaitReason | null)[];
  };
}

export interface FailuresQuery {
  readonly queue?: string;
  /** Also groups without a failed job, as long as the statistics keep them. */
  readonly past?: boolean;
}

export interface EndedQuery {
  readonly queue: string;
  readonly state: EndedState;
  readonly from: number;
  readonly limit: number;
}

export interface EndedJob {
  readonly id: string;
  readonly endedAt: number;
}

export interface StalledQuery {
  readonly queue: string;
  readonly limit: number;
}

export interface StalledJob {
  readonly id: string;
  /** When its lease ended. */
  readonly until: number;
}

/** A tag and the number of its jobs. */
export interface TagCount {
  /** The tag. */
  readonly tag: string;
  /** How many jobs have it. */
  readonly jobs: number;
}

/** Orders tags: the most frequent first, then by name. */
export function tagOrder(a: TagCount, b: TagCount): number {
  return b.jobs - a.jobs || byText(a.tag, b.tag);
}

/** `waiting`: jobs that a claim parked because no slot was free; more may wait behind them. */
export interface ThrottleUse {
  readonly address: string;
  readonly max: number | null;
  readonly held: number;
  readonly waiting: number;
  /** When the next job may start, if its rate or a pause lets none start now (limits/bucket.ts). */
  readonly nextStartAt: number | null;
  /** Ids of the first holders. */
  readonly holders: readonly string[];
}
export const MAX_HOLDERS = 100;
/** How many buckets of throttles with a rate are checked for the list of throttles. */
export const MAX_BUCKETS = 1_000;

/** Which throughput figures to return. */
export interface SeriesQuery {
  /** One queue. Default: all queues. */
  readonly queue?: string;
  /** By minute for two hours, or by hour for sixty days. */
  readonly span: Span;
  /** The start. Default: as far back as points are kept. */
  readonly from?: number;
}

/** Which statistics to return. */
export interface StatisticsQuery {
  /** One queue. Default: all queues. */
  readonly queue?: string;
  /** Days as YYYY-MM-DD, both included. */
  readonly from?: string;
  /** The last day, as YYYY-MM-DD. */
  readonly to?: string;
  /** Default: the queue as a whole. */
  readonly by?: 'queue' | 'tag' | 'worker';
}

export type InsightKind = keyof Insights;
export type InsightQueryOf<Kind extends InsightKind> = { readonly kind: Kind } & Insights[Kind]['query'];
export type InsightQuery = { readonly [Kind in InsightKind]: InsightQueryOf<Kind> }[InsightKind];
export type InsightResultOf<Asked extends InsightQuery> = Insights[Asked['kind']]['result'];
