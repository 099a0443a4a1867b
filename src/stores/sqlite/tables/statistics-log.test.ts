import { expect, it } from 'vitest';
import { NO_THROTTLE } from '../../../core/limits/bucket.ts';
import { settingsOf } from '../../../core/settings/settings.ts';
import { DAY_MS } from '../../../core/statistics/histogram.ts';
import type { Measurement } from '../../../core/statistics/statistics.ts';
import { MAX_LOG_ENTRIES } from '../../../core/statistics/statistics.ts';
import { applySchema } from '../engine/schema.ts';
import { firstRow, openDatabase } from '../engine/sqlite-database.ts';
import { SqliteTable } from './sqlite-table.ts';
import { StoreNumbers } from './store-numbers.ts';

const DAY = 20_000;

function aRun(runMs: number): Measurement {
  return { queue: 'q', at: DAY * DAY_MS, worker: 'w', tags: [], waitMs: null, runMs, ends: [], group: null };
}

type Rows = Readonly<Record<'statistics_log' | 'statistics' | 'series', number>>;

function openTable(): { table: SqliteTable; save: () => void; counted: () => number | undefined; rows: () => Rows } {
  const db = openDatabase(':memory:', 0);
  applySchema(db);
  const table = new SqliteTable(db, {
    numbers: new StoreNumbers(db),
    settings: () => settingsOf(undefined),
    throttle: () => NO_THROTTLE,
    closed: () => null,
    emit: () => undefined,
  });
  const save = (): void => table.save({ seenAt: 0, gap: { from: 0, to: 0 } });
  const count = (name: string) => firstRow<readonly [number]>(db.prepare(`SELECT count(*) FROM ${name}`))?.[0] ?? 0;
  const rows = () => ({
    statistics_log: count('statistics_log'),
    statistics: count('statistics'),
    series: count('series'),
  });
  return { table, save, rows, counted: () => table.statistics('q', DAY, DAY)[0]?.figures.run.count };
}

it('counts the committed calls of a transaction, and nothing of a call that was rolled back', () => {
  const { table, save, counted } = openTable();
  table.measure(aRun(1));
  const restore = table.snapshot();
  table.measure(aRun(2));
  restore();
  table.measure(aRun(3));
  expect(counted()).toBeUndefined();
  save();
  expect(counted()).toBe(2);
  table.measure(aRun(4));
  table.forget();
  save();
  expect(counted()).toBe(2);
});

it('appends one row per transaction and group of alike jobs, and aggregates when there are too many', () => {
  const { table, save, rows } = openTable();
  for (let ms = 0; ms < 1_000; ms += 1) table.measure(aRun(ms));
  table.measure({ ...aRun(1), worker: 'other' });
  save();
  expect(rows()).toEqual({ statistics_log: 2, statistics: 0, series: 0 });
  for (let entries = 3; entries <= MAX_LOG_ENTRIES; entries += 1) {
    table.measure(aRun(entries));
    save();
  }
  expect(rows()).toEqual({ statistics_log: MAX_LOG_ENTRIES, statistics: 0, series: 0 });
  const before = table.statistics('q', DAY, DAY);
  expect(before.map(({ kind, name, figures }) => [kind, name, figures.run.count])).toEqual([
    ['queue', '', 999 + MAX_LOG_ENTRIES],
    ['worker', 'other', 1],
    ['worker', 'w', 998 + MAX_LOG_ENTRIES],
  ]);
  expect(table.series('q', 'hour', 0)).toHaveLength(1);
  expect(rows()).toEqual({ statistics_log: MAX_LOG_ENTRIES, statistics: 0, series: 0 });
  table.measure(aRun(7));
  save();
  expect(rows()).toEqual({ statistics_log: 0, statistics: 3, series: 2 });
  expect(table.statistics('q', DAY, DAY)[0]?.figures.run.count).toBe(1_000 + MAX_LOG_ENTRIES);
});

it('adds pending entries to the cells before it forgets old ones', () => {
  const { table, save, rows } = openTable();
  table.measure(aRun(1));
  save();
  expect(table.statisticsBefore('q', DAY + 1)).toMatchObject({ count: 2 });
  table.forgetStatistics('q', { day: DAY + 1, histogramDay: DAY + 1 }, 1);
  expect(rows()).toEqual({ statistics_log: 0, statistics: 1, series: 2 });
});
