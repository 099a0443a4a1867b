import { expect, it } from 'vitest';
import { hoursOf, strokesOf, widthOf } from './lane-places.ts';

const window = { from: 0, until: 86_400_000 };

it('puts each run where it belongs, and runs too close to tell apart into one stroke', () => {
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

it('draws a run as long as it takes, and never too narrow to see', () => {
  expect(widthOf(8_640_000, window)).toBe(100);
  expect(widthOf(1_000, window)).toBe(3);
});

it('marks every full hour and writes every third', () => {
  const hours = hoursOf(window);
  expect(hours).toHaveLength(24);
  expect(hours.filter(({ label }) => label !== null)).toHaveLength(8);
});
