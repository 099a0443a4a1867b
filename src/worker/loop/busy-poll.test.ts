import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BusyPoll, PAUSE, SAMPLE } from './busy-poll.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function aPoll({ cores = 2 } = {}) {
  let preemptions = 0;
  const poll = new BusyPoll({ cores, preemptions: () => preemptions });
  /** Sends a request that is answered after so many milliseconds. */
  const answeredAfter = (ms: number): void => {
    poll.start();
    vi.advanceTimersByTime(ms);
    poll.stop();
  };
  return {
    answeredAfter,
    /** Sends as many requests as are measured together, and is preempted so often in each. */
    load: (perRequest: number): void => {
      preemptions += perRequest * SAMPLE;
      for (let each = 0; each < SAMPLE; each += 1) answeredAfter(0);
      vi.runOnlyPendingTimers();
    },
    /** Sends a request without an answer. */
    ask: () => poll.start(),
    isAwake: () => vi.getTimerCount() > 0,
  };
}

it('A worker polls for an answer if it has a core to spare and answers come soon.', () => {
  const { load, ask, isAwake } = aPoll();
  ask();
  expect(isAwake()).toBe(false);
  load(0.2);
  ask();
  expect(isAwake()).toBe(true);
});

it('It does not poll while other threads need the processors, and for some time after that.', () => {
  const { load, ask, isAwake } = aPoll();
  for (const perRequest of [0.2, 0.5]) load(perRequest);
  for (let each = 1; each < PAUSE; each += 1) load(1);
  ask();
  expect(isAwake()).toBe(false);
  load(1);
  ask();
  expect(isAwake()).toBe(true);
});

it('It never polls on a single core.', () => {
  const { load, ask, isAwake } = aPoll({ cores: 1 });
  load(0);
  ask();
  expect(isAwake()).toBe(false);
});

it('It ends with the answer.', () => {
  const { load, answeredAfter, isAwake } = aPoll();
  load(0);
  answeredAfter(0);
  vi.runOnlyPendingTimers();
  expect(isAwake()).toBe(false);
});

it('It ends after a moment without an answer, and does not begin again while answers usually take longer.', () => {
  const { load, answeredAfter, ask, isAwake } = aPoll();
  load(0);
  answeredAfter(2);
  expect(isAwake()).toBe(false);
  ask();
  expect(isAwake()).toBe(true);
  for (let each = 0; each < 20; each += 1) answeredAfter(2);
  ask();
  expect(isAwake()).toBe(false);
});

it('It ends even if the clock stands still.', () => {
  const { load, ask, isAwake } = aPoll();
  load(0);
  ask();
  for (let turn = 0; turn < 1_000; turn += 1) vi.runOnlyPendingTimers();
  expect(isAwake()).toBe(false);
});
