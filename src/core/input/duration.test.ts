import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['10m', 600_000],
  ['1h30m', 5_400_000],
  ['1h 30m', 5_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  ['250ms', 250],
  ['1.5s', 1_500],
  [0, 0],
  [1_234.4, 1_234],
])('%s is %d ms', (value, ms) => {
  expect(parseDuration(value)).toBe(ms);
});

test.each([
  '',
  '10',
  'm',
  '10 parsecs',
  '-5s',
  '1e3s',
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  null,
  {},
  '9999999999d',
])('%s is not a duration', (value) => {
  expect(parseDuration(value)).toBeNull();
});
