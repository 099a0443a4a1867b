import { expect, test } from 'vitest';
import { barsOf, RANGES } from './throughput.ts';

const HOUR_MS = 3_600_000;
const now = Date.UTC(2026, 10, 15, 13, 30);
const point = (at: number, done: number, failed = 0) => ({ queue: 'q', at, done, failed });

test('There is a bar for every step up to the present; older points are ignored.', () => {
  const minutes = barsOf(
    { now, points: [point(now, 2), point(now - 119 * 60_000, 1, 1), point(now - HOUR_MS * 3, 9)] },
    RANGES[0],
  );
  expect(minutes).toHaveLength(120);
  expect([minutes[0], minutes.at(-1)]).toEqual([
    { at: now - 119 * 60_000, done: 1, failed: 1 },
    { at: now, done: 2, failed: 0 },
  ]);
  expect(minutes.reduce((sum, { done }) => sum + done, 0)).toBe(3);
});

test('The hours of a UTC day are one bar of the longest range.', () => {
  const day = Date.UTC(2026, 10, 14);
  const days = barsOf({ now, points: [point(day, 1), point(day + 23 * HOUR_MS, 2, 1)] }, RANGES[2]);
  expect(days.at(-2)).toEqual({ at: day, done: 3, failed: 1 });
});
