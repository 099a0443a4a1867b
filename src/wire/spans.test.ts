import { expect, it } from 'vitest';
import { parseDuration } from '../core/input/duration.ts';
import { age, bytes, exactDuration, span } from './spans.ts';

it.each([
  [400, '0.4 s'],
  [59_900, '59 s'],
  [60_000, '1 m'],
  [3_725_000, '1 h 2 m'],
  [90_061_000, '1 d 1 h'],
  [-5, '0 s'],
])('%i ms are formatted as %s', (ms, text) => {
  expect(span(ms)).toBe(text);
});

it('formats ages in the past and in the future', () => {
  expect([age(0, 500), age(0, 5_000), age(7_200_000, 0)]).toEqual(['now', '5 s ago', 'in 2 h']);
});

it.each([0, 1, 999, 1_000, 90_000, 5_400_000, 2_592_000_123])('%i ms are formatted as settings accept them', (ms) => {
  expect(parseDuration(exactDuration(ms))).toBe(ms);
});

it.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_536, '1.5 KB'],
  [20 * 1024 ** 2, '20 MB'],
])('%i bytes are formatted as %s', (count, text) => {
  expect(bytes(count)).toBe(text);
});
