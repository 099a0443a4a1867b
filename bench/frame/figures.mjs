/** The results: for each contender and measure the values of all rounds, or why there are none. */
import { firstLine } from './rounds.mjs';

/** The part of the benchmark is the first component of a measure's name. */
export const partOf = (measure) => measure.split('.')[0];

const key = (name, measure) => `${name} ${measure}`;

export function createFigures() {
  const samples = new Map();
  const failures = new Map();
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
    /** Returns { value, lowest, highest } or { reason }. */
    of: (name, measure) => {
      const reason = failures.get(key(name, partOf(measure)));
      const list = samples.get(key(name, measure));
      return reason === undefined && list ? spread(list) : { reason: reason ?? 'not measured in this run' };
    },
    /** Returns the figures of a part by contender and measure, without those that failed. */
    ofPart: (part) =>
      Object.fromEntries(
        [...samples]
          .map(([each, list]) => [each, each.split(' '), list])
          .filter(([, [name, measure]]) => partOf(measure) === part && !failures.has(key(name, part)))
          .map(([each, , list]) => [each, spread(list)]),
      ),
  };
}

/** Returns the figures of earlier runs, as `ofPart` returned them. */
export const figuresOf = (byKey) => ({
  of: (name, measure) => byKey[key(name, measure)] ?? { reason: 'not measured in this run' },
});

function spread(list) {
  const sorted = list.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  const value = (sorted[Math.floor(middle)] + sorted[Math.ceil(middle)]) / 2;
  return { value, lowest: sorted[0], highest: sorted.at(-1) };
}
