/** Random numbers from a seed, so that a failing case can be repeated. */

/** Returns the next number in [0, 1). */
export type Random = () => number;

/** Returns numbers that depend on the seed alone. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a number in [0, 1) that depends on the seed and the text alone. */
export function randomOf(seed: number, text: string): number {
  let state = seed >>> 0;
  for (let index = 0; index < text.length; index += 1) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  return seededRandom(state)();
}

/** Returns a new seed. */
export function newSeed(): number {
  return Math.floor(Math.random() * 2 ** 31);
}
