/** Statistics over a table: reads what is kept, and deletes the rest. */

import { byText } from '../input/text-order.ts';
import type { Moment } from '../lifecycle/clock.ts';
import type { InsightQueryOf } from '../ports/insight.ts';
import type { Table } from '../ports/table.ts';
import type { SeriesPoint } from '../statistics/series.ts';
import { pageAt, pointsOf } from '../statistics/series.ts';
import type { DayStatistics, StoredCell } from '../statistics/statistics.ts';
import { dayNumber, dayOf, keptSince, statisticsOf } from '../statistics/statistics.ts';

export function statistics(
  table: Table,
  query: InsightQueryOf<'statistics'>,
  { now }: Moment,
): readonly DayStatistics[] {
  const { queue, from, to, by = 'queue' } = query;
  const days = { from: from === undefined ? 0 : dayNumber(from), to: to === undefined ? dayOf(now) : dayNumber(to) };
  return (queue === undefined ? table.queues() : [queue]).flatMap((name) =>
    keptCells(table, name, { ...days, now })
      .filter(({ kind }) => kind === by)
      .map((cell) => statisticsOf(name, cell)),
  );
}

/**
 * Returns the cells that are kept. Expired cells are left out even if they are not deleted yet: time alone writes
 * nothing.
 */
export function keptCells(
  table: Table,
  queue: string,
  asked: { readonly from: number; readonly to: number; readonly now: number },
): readonly StoredCell[] {
  const kept = keptSince(table.settings(queue), asked.now);
  return table.statistics(queue, Math.max(asked.from, kept.day), asked.to).map((cell) => {
    const hasBuckets = cell.figures.hasBuckets && cell.day >= kept.histogramDay;
    return { ...cell, figures: { ...cell.figures, hasBuckets } };
  });
}

/** Deletes expired cells of a queue, at most `limit` in a round, in addition to the limit for jobs. */
export function forgetStatistics(table: Table, queue: string, limit: number, now: number): void {
  table.forgetStatistics(queue, keptSince(table.settings(queue), now), limit);
}

export function series(
  table: Table,
  { queue, span, from = 0 }: InsightQueryOf<'series'>,
  { now }: Moment,
): readonly SeriesPoint[] {
  const queues = queue === undefined ? table.queues().toSorted(byText) : [queue];
  const first = pageAt(span, from);
  return queues.flatMap((name) => pointsOf(name, table.series(name, span, first), { from, now }));
}
