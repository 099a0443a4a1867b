/** Reads the cells of statistics as the scripts answer them (lua/reads/statistics.lua, lua/lib/aggregates.lua). */

import { byText } from '../../../core/input/text-order.ts';
import type { SeriesQuery } from '../../../core/ports/insight.ts';
import { readAggregate } from '../../../core/statistics/aggregate.ts';
import type { SeriesPoint } from '../../../core/statistics/series.ts';
import { pointsOf, readCounts } from '../../../core/statistics/series.ts';
import type { CellKind, DayStatistics, StoredCell } from '../../../core/statistics/statistics.ts';
import { CELL_KINDS, cellOrder, statisticsOf } from '../../../core/statistics/statistics.ts';
import { FIELD, PART, unescapeText } from '../encoding/layout.ts';
import { linesOf } from './answers.ts';
import type { ScriptAnswer } from './script-runner.ts';

export const KIND_LETTERS: Readonly<Record<CellKind, string>> = { queue: 'q', tag: 't', worker: 'w', group: 'g' };

type QueueCell = StoredCell & { readonly queue: string };

export function readStatistics(answer: ScriptAnswer): DayStatistics[] {
  return readCells(answer).map((cell) => statisticsOf(cell.queue, cell));
}

export function readCells(answer: ScriptAnswer): QueueCell[] {
  const cells = linesOf(answer, PART).map(readCell);
  return cells.sort((a, b) => byText(a.queue, b.queue) || cellOrder(a, b));
}

function readCell(line: string): QueueCell {
  const [queue = '', day = '', name = '', figures = ''] = line.split(FIELD);
  const kind = CELL_KINDS.find((each) => KIND_LETTERS[each] === name[0]) ?? 'queue';
  return { queue, day: Number(day), kind, name: unescapeText(name.slice(1)), figures: readAggregate(figures) };
}

/** The first line is the time. */
export function readSeries(answer: ScriptAnswer, { span, from = 0 }: SeriesQuery): SeriesPoint[] {
  const [now, ...lines] = linesOf(answer, PART);
  const pages = lines.map((line) => line.split(FIELD));
  const queues = [...new Set(pages.map(([queue = '']) => queue))].sort(byText);
  return queues.flatMap((queue) => {
    const own = pages.filter(([of]) => of === queue);
    const read = own.map(([, page, counts = '']) => ({ span, page: Number(page), counts: readCounts(counts) }));
    return pointsOf(queue, read, { from, now: Number(now) });
  });
}
