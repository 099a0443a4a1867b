/** Reproducible random numbers: all numbers of a run come from one seed, which the test prints. */
import { randomInt } from 'node:crypto';

export interface SeededRandom {
  readonly seed: number;
  /** In [0, 1). */
  next(): number;
  /** A whole number in [from, to]. */
  between(from: number, to: number): number;
  pick<T>(items: readonly T[]): T;
}

/** The seed is `LONGHAUL_SEED`, to repeat a run, or a new one. */
export function openRandom(seed = Number(process.env['LONGHAUL_SEED'] ?? randomInt(2 ** 31))): SeededRandom {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    seed,
    next,
    between,
    pick: (items) => {
      const item = items[between(0, items.length - 1)];
      if (item === undefined) throw new Error('there is nothing to pick from');
      return item;
    },
  };
}
