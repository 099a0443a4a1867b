/** The times, in ms from the start, at which jobs arrive at random around every `everyMs`: the same at each call. */
export function arrivals(count, everyMs) {
  const random = seeded(20_260_101);
  let at = 0;
  return Array.from({ length: count }, () => (at += -Math.log(1 - random()) * everyMs));
}

/** A small generator of numbers in [0, 1) that repeats itself for the same seed. */
function seeded(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
