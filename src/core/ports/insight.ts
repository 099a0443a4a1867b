/**
 * What can be asked of a store besides its jobs: one call of the port, `insight`, and a kind for every question.
 *
 * A new question is an entry in `Insights`, and then what the compiler misses; none is optional for a store.
 */

import { byText } from '../input/text-order.ts';
import type { EndedState } from '../job/job.ts';
import type { Prunable } from '../lifecycle/prunable.ts';
import type { Brake } from '../limits/throttle.ts';
import type { SeriesPoint, Span } from '../statistics/series.ts';
import type { DayStatistics } from '../statistics/statistics.ts';
import type { QueueStorage } from '../statistics/storage.ts';
import type { FailureGroup } from './job-store.ts';

/** Every kind with what it is asked and what it answers. */
export interface Insights {
  /** Failed jobs by what went wrong, the most frequent first; of one queue or of all. */
  readonly failures: { readonly question: FailuresQuestion; readonly answer: readonly FailureGroup[] };
  /** By queue and day, the oldest day first, as long as they are kept. */
  readonly statistics: { readonly question: StatisticsQuestion; readonly answer: readonly DayStatistics[] };
  /** How many ended, by minute or by hour, as far as that is kept; by queue, then by time. */
  readonly series: { readonly question: SeriesQuestion; readonly answer: readonly SeriesPoint[] };
  /** What retention would take now, by queue and kind. */
  readonly prunable: { readonly question: { readonly queue?: string }; readonly answer: readonly Prunable[] };
  /** Jobs of a queue and a state by their end, the first first, from an end on. */
  readonly ended: { readonly question: EndedQuestion; readonly answer: readonly EndOfJob[] };
  /** What the ended jobs of each queue take up. */
  readonly storage: { readonly question: { readonly queue?: string }; readonly answer: readonly QueueStorage[] };
  /** The tags that most jobs have, whatever their state. */
  readonly tags: { readonly question: { readonly limit: number }; readonly answer: readonly TagCount[] };
  /** The throttles of which somebody holds a slot, keys among them, by address. */
  readonly throttles: { readonly question: object; readonly answer: readonly ThrottleUse[] };
  /** For each of these jobs: the limit that alone keeps it from being started now, if there is one. */
  readonly brakes: {
    readonly question: { readonly ids: readonly string[] };
    readonly answer: readonly (Brake | null)[];
  };
}

export interface FailuresQuestion {
  readonly queue?: string;
  /** Also groups of which no failed job is left, as long as the statistics know of them. */
  readonly past?: boolean;
}

export interface EndedQuestion {
  readonly queue: string;
  readonly state: EndedState;
  readonly from: number;
  readonly limit: number;
}

export interface EndOfJob {
  readonly id: string;
  readonly endedAt: number;
}

/** A tag and the number of its jobs. */
export interface TagCount {
  /** The tag. */
  readonly tag: string;
  /** How many jobs have it. */
  readonly jobs: number;
}

/** The most frequent first, then by name. */
export function tagOrder(a: TagCount, b: TagCount): number {
  return b.jobs - a.jobs || byText(a.tag, b.tag);
}

/** `waiting`: jobs that a claim came upon and set aside for want of a slot; others may stand behind them. */
export interface ThrottleUse {
  readonly address: string;
  readonly max: number | null;
  readonly held: number;
  readonly waiting: number;
  /** Ids of the first that hold one. */
  readonly holders: readonly string[];
}
export const MOST_HOLDERS = 100;

/** Which throughput figures to return. */
export interface SeriesQuestion {
  /** One queue. Default: all queues. */
  readonly queue?: string;
  /** By minute for two hours, or by hour for sixty days. */
  readonly span: Span;
  /** From this time on; as far as it goes by default. */
  readonly from?: number;
}

/** Which statistics to return. */
export interface StatisticsQuestion {
  /** One queue. Default: all queues. */
  readonly queue?: string;
  /** Days as YYYY-MM-DD, both among them. */
  readonly from?: string;
  /** The last day, as YYYY-MM-DD. */
  readonly to?: string;
  /** Default: the queue as a whole. */
  readonly by?: 'queue' | 'tag' | 'worker';
}

export type InsightKind = keyof Insights;
export type QuestionOf<Kind extends InsightKind> = { readonly kind: Kind } & Insights[Kind]['question'];
export type Question = { readonly [Kind in InsightKind]: QuestionOf<Kind> }[InsightKind];
export type AnswerOf<Asked extends Question> = Insights[Asked['kind']]['answer'];
