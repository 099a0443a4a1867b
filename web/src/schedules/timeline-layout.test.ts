import { expect, it } from 'vitest';
import { hoursOf, strokesOf, widthOf } from './timeline-layout.ts';

const window = { from: 0, until: 86_400_000 };

it('places each run by time, and merges runs that are too close into one stroke', () => {
  expect(strokesOf([0, 43_200_000, 43_260_000, 86_400_000], window)).toEqual([
    { x: 0, count: 1, firstAt: 0 },
    { x: 500, count: 2, firstAt: 43_200_000 },
    { x: 1_000, count: 1, firstAt: 86_400_000 },
  ]);
  const everyMinute = Array.from({ length: 1_440 }, (_, minute) => minute * 60_000);
  const strokes = strokesOf(everyMinute, window);
  expect(strokes.length).toBeLessThanOrEqual(501);
  expect(strokes.reduce((sum, { count }) => sum + count, 0)).toBe(1_440);
});

it('draws a run by its duration, and never too narrow to see', () => {
  expect(widthOf(8_640_000, window)).toBe(100);
  expect(widthOf(1_000, window)).toBe(3);
});

it('marks every full hour and labels every third', () => {
  const hours = hoursOf(window);
  expect(hours).toHaveLength(24);
  expect(hours.filter(({ label }) => label !== null)).toHaveLength(8);
});
