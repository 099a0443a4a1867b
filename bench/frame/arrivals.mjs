/** Returns random arrival times in ms from the start, on average every `everyMs`; the same ones at each call. */
export function arrivals(count, everyMs) {
  const random = seeded(20_260_101);
  let at = 0;
  return Array.from({ length: count }, () => (at += -Math.log(1 - random()) * everyMs));
}

/** A small deterministic generator of numbers in [0, 1). */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
