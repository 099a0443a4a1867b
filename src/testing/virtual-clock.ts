/** A clock that only moves when a test moves it: a job of thirty days takes a moment. */
import { checked, duration } from '../core/input/check.ts';
import type { Duration } from '../core/input/duration.ts';

/** A clock that only moves when a test moves it. */
export interface VirtualClock {
  /** Returns the current time in epoch milliseconds. */
  now(): number;
  /** Moves the clock and calls the listeners. */
  advance(by: Duration): void;
  /** Adds a listener that is called after each move. */
  onAdvance(listener: () => void): void;
}

export function createVirtualClock(start = Date.UTC(2030, 0, 1)): VirtualClock {
  let time = start;
  const listeners = new Set<() => void>();
  return {
    now: () => time,
    advance(by) {
      time += checked('advance', by, duration());
      for (const listener of listeners) listener();
    },
    onAdvance: (listener) => void listeners.add(listener),
  };
}
