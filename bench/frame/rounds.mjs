/**
 * Measures several contenders in turns: a round has each of them once, and each round starts with another one.
 *
 * A figure is the median of the rounds. A contender that fails once is void for the whole measure.
 */
import { fileURLToPath } from 'node:url';
import { contenders, unavailableReason } from './contenders.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** `once(name)` returns { measure: value, … }. */
export async function inTurns({ names, rounds, figures, print, once }) {
  for (let round = 0; round < rounds; round += 1) {
    for (const name of rotated(names, round)) {
      if (figures.isVoid(name)) continue;
      try {
        const reason = unavailableReason(name);
        if (reason) throw new Error(reason);
        const values = await once(name);
        figures.add(name, values);
        print(`  round ${round + 1}  ${contenders[name].title.padEnd(22)} ${summary(values)}`);
      } catch (error) {
        figures.fail(name, error);
        print(`  round ${round + 1}  ${contenders[name].title.padEnd(22)} VOID: ${firstLine(error)}`);
      }
    }
  }
}

const rotated = (names, by) => names.map((_, index) => names[(index + by) % names.length]);
const summary = (values) =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value >= 100 ? Math.round(value) : value.toFixed(3)}`)
    .join('  ');
/** Returns the first line of the error message, without the path of the repository. */
export const firstLine = (error) =>
  String(error?.message ?? error)
    .split('\n')[0]
    .replaceAll(`${root}/`, '');
