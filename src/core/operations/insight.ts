/** The insight queries over a table. Nothing here writes. */
import type { Moment } from '../lifecycle/clock.ts';
import type { InsightKind, InsightQuery, InsightQueryOf, InsightResultOf, Insights } from '../ports/insight.ts';
import type { FailureGroup } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import { groupOrder, withTrends } from '../statistics/failure-trend.ts';
import { dayOf } from '../statistics/statistics.ts';
import { throttles, waitReasons } from './limits/throttle-reads.ts';
import { prunable } from './retention.ts';
import { keptCells, series, statistics } from './statistics.ts';

type Reader<Kind extends InsightKind> = (
  table: Table,
  query: InsightQueryOf<Kind>,
  moment: Moment,
) => Insights[Kind]['result'];

const READERS: { readonly [Kind in InsightKind]: Reader<Kind> } = {
  failures,
  statistics,
  series,
  prunable,
  ended: (table, { queue, state, from, limit }) =>
    table.oldestEnded(queue, state, { from, limit }).map(({ id, endedAt }) => ({ id, endedAt: endedAt ?? 0 })),
  stalled: (table, { queue, limit }, { now }) =>
    table.leasesUntil(queue, now, limit).map(({ id, lease }) => ({ id, until: lease.until })),
  storage: (table, { queue }) => (queue === undefined ? table.queues() : [queue]).map((name) => table.storage(name)),
  tags: (table, { limit }) => table.topTags(limit),
  throttles: (table, _query, moment) => throttles(table, moment),
  brakes: waitReasons,
};

export function insight(table: Table, query: InsightQuery, moment: Moment): InsightResultOf<InsightQuery> {
  return (READERS[query.kind] as Reader<InsightKind>)(table, query, moment);
}

function failures(table: Table, query: InsightQueryOf<'failures'>, { now }: Moment): readonly FailureGroup[] {
  const { queue, past = false } = query;
  const groups = (queue === undefined ? table.queues() : [queue]).flatMap((name) => {
    const cells = keptCells(table, name, { from: 0, to: dayOf(now), now }).filter(({ kind }) => kind === 'group');
    return withTrends(name, { groups: table.failures(name), cells, past });
  });
  return groups.sort(groupOrder);
}
