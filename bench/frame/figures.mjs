/** The results: for each contender and measure the values of all rounds, or why there are none. */
import { firstLine } from './rounds.mjs';

export function createFigures() {
  const samples = new Map();
  const failures = new Map();
  const key = (name, measure) => `${name} ${measure}`;
  return {
    /** A section of the results, in which one measurement records its values and failures. */
    section: (part) => ({
      add: (name, values) => {
        for (const [measure, value] of Object.entries(values)) {
          const list = samples.get(key(name, measure)) ?? [];
          samples.set(key(name, measure), [...list, value]);
        }
      },
      fail: (name, error) => failures.set(key(name, part), firstLine(error)),
      isVoid: (name) => failures.has(key(name, part)),
    }),
    /** Returns { value, lowest, highest } or { reason }. The part is the first component of a measure's name. */
    of: (name, measure) => {
      const reason = failures.get(key(name, measure.split('.')[0]));
      const list = samples.get(key(name, measure));
      return reason === undefined && list ? spread(list) : { reason: reason ?? 'not measured in this run' };
    },
  };
}

function spread(list) {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const value = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return { value, lowest: sorted[0], highest: sorted.at(-1), rounds: sorted.length };
}
