import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchLimits } from './attempt-limits.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] }));
afterEach(() => void vi.useRealTimers());

it('counts the run time under an earlier process', () => {
  const stops: string[] = [];
  const watch = watchLimits({ maxRuntimeMs: 1_000, maxSilenceMs: null }, (reason) => stops.push(reason));
  watch?.ranBefore(600);
  vi.advanceTimersByTime(390);
  expect(stops).toEqual([]);
  vi.advanceTimersByTime(20);
  expect(stops).toEqual(['time-out']);
});

it('does not count the time of a pause, however often it is reported', () => {
  const stops: string[] = [];
  const watch = watchLimits({ maxRuntimeMs: 1_000, maxSilenceMs: 500 }, (reason) => stops.push(reason));
  vi.advanceTimersByTime(400);
  watch?.pauseLimits(true);
  vi.advanceTimersByTime(60_000);
  watch?.pauseLimits(true);
  watch?.pauseLimits(false);
  watch?.pauseLimits(false);
  vi.advanceTimersByTime(90);
  expect(stops).toEqual([]);
  vi.advanceTimersByTime(20);
  expect(stops).toEqual(['silent']);
});
