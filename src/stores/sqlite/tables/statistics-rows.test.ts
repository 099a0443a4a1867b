import { expect, it } from 'vitest';
import { settingsOf } from '../../../core/settings/settings.ts';
import { DAY_MS } from '../../../core/statistics/histogram.ts';
import type { Measurement } from '../../../core/statistics/statistics.ts';
import { applySchema } from '../engine/schema.ts';
import { openDatabase } from '../engine/sqlite-database.ts';
import { SqliteTable } from './sqlite-table.ts';
import { StatisticsRows } from './statistics-rows.ts';
import { StoreNumbers } from './store-numbers.ts';

const DAY = 20_000;

function aRun(runMs: number): Measurement {
  return { queue: 'q', at: DAY * DAY_MS, worker: 'w', tags: [], waitMs: null, runMs, ends: [], group: null };
}

function openTable(): { table: SqliteTable; save: () => void; counted: () => number | undefined } {
  const db = openDatabase(':memory:', 0);
  applySchema(db);
  const table = new SqliteTable(db, {
    numbers: new StoreNumbers(db),
    settings: () => settingsOf(undefined),
    throttleMax: () => null,
    closed: () => null,
    emit: () => undefined,
  });
  const save = (): void => table.save({ seenAt: 0, gap: { from: 0, to: 0 } });
  return { table, save, counted: () => table.statistics('q', DAY, DAY)[0]?.figures.run.count };
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

it('writes a cell once per transaction, however many measurements it has', () => {
  const db = openDatabase(':memory:', 0);
  applySchema(db);
  const rows = new StatisticsRows(db);
  for (let ms = 0; ms < 1_000; ms += 1) rows.measure(aRun(ms));
  const before = Number(db.prepare('SELECT total_changes()').get()?.[0 as never]);
  rows.save();
  expect(Number(db.prepare('SELECT total_changes()').get()?.[0 as never]) - before).toBe(2);
  expect(
    rows.statistics('q', DAY, DAY).map(({ kind, figures }) => [kind, figures.run.count, figures.run.mean]),
  ).toEqual([
    ['queue', 1_000, 499.5],
    ['worker', 1_000, 499.5],
  ]);
});
