/** The trend of a failure group by day, taken from the statistics, so it outlives the jobs that failed. */

import { byText } from '../input/text-order.ts';
import type { FailureGroup } from '../ports/job-store.ts';
import type { StoredCell } from './statistics.ts';
import { dayText } from './statistics.ts';

export interface FailureTrend {
  /** When an attempt first and last failed with this group, within the days that are kept. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Jobs that failed, and attempts that were retried; days without either are left out. */
  readonly days: readonly { readonly day: string; readonly failures: number; readonly retries: number }[];
}

/** A group as counted from its failed jobs, without the trend. */
export type CurrentFailureGroup = Omit<FailureGroup, 'trend'>;

export interface GroupSources {
  readonly groups: readonly CurrentFailureGroup[];
  /** Of kind `group`, by day. */
  readonly cells: readonly StoredCell[];
  /** Whether groups without a failed job are included. */
  readonly past: boolean;
}

/** Returns the groups of one queue, in no order. */
export function withTrends(queue: string, { groups, cells, past }: GroupSources): FailureGroup[] {
  const living = groups.map((group) => ({
    ...group,
    trend: trendOf(cells.filter(({ name }) => name === group.group)),
  }));
  if (!past) return living;
  const known = new Set(groups.map(({ group }) => group));
  const gone = [...new Set(cells.map(({ name }) => name))].filter((name) => !known.has(name));
  return [...living, ...gone.map((name) => historicalGroup(queue, name, cells))];
}

function historicalGroup(queue: string, group: string, cells: readonly StoredCell[]): FailureGroup {
  const trend = trendOf(cells.filter(({ name }) => name === group));
  const { firstAt = 0, lastAt = 0 } = trend ?? {};
  return { queue, group, count: 0, firstAt, lastAt, sampleId: null, trend };
}

function trendOf(cells: readonly StoredCell[]): FailureTrend | null {
  if (cells.length === 0) return null;
  return {
    firstAt: Math.min(...cells.map(({ figures }) => figures.firstAt)),
    lastAt: Math.max(...cells.map(({ figures }) => figures.lastAt)),
    days: cells.map(({ day, figures: { ends } }) => ({
      day: dayText(day),
      failures: ends.failures,
      retries: ends.retries,
    })),
  };
}

/** Orders groups: the most frequent first, then by name. */
export function groupOrder(a: FailureGroup, b: FailureGroup): number {
  return b.count - a.count || byText(a.queue, b.queue) || byText(a.group, b.group);
}
