/**
 * `npm run check`: format, lint, types, unused code, layers and style. All of them run, also when one fails.
 *
 *   npm run check -- format types   some of them
 */
import { bin, main, run, say, seconds } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { wrongUse } from './usage.mjs';

const checks = [
  { name: 'format', command: 'biome', args: ['check', '--linter-enabled=false', '--error-on-warnings', '.'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  // Its threads share nothing, and each works out the same types again: four of them cost more than twice what one does.
  { name: 'types', command: 'tsc', args: ['--noEmit', '--singleThreaded'] },
  { name: 'unused code', command: 'knip', args: ['--no-progress', '--no-config-hints'] },
  { name: 'layers and style', command: 'vitest', args: ['run', '--project', 'conventions', '--reporter', 'dot'] },
];

/** The compiler and the linter are written in Go: less collected garbage and one thread each, since others run beside. */
const thrifty = { GOGC: '400', GOMAXPROCS: '1' };

/** Runs the checks, two at a time so that two cores are kept busy and not more; answers the names of those that failed. */
export async function check({ only = checks.map((each) => each.name) } = {}) {
  const waiting = checks.filter((each) => only.includes(each.name));
  const failed = [];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { isGood, lines } = await runCheck(next);
      for (const line of lines) say(line);
      if (!isGood) failed.push(next.name);
    }
  };
  await Promise.all([lane(), lane()]);
  return failed;
}

/**
 * The checks that are no suite, one after the other and behind whatever else runs. Begins at once; the function it
 * answers says what came of them and answers whether all are in order.
 */
export function checkBeside() {
  const outcomes = (async () => {
    const outcomes = [];
    for (const each of checks.filter(({ command }) => command !== 'vitest'))
      outcomes.push(await runCheck(each, { isBehind: true }));
    return outcomes;
  })();
  // Whoever asks for the outcome hears of it; until then nobody does.
  outcomes.catch(() => undefined);
  return async () => {
    for (const line of (await outcomes).flatMap(({ lines }) => lines)) say(line);
    return (await outcomes).every(({ isGood }) => isGood);
  };
}

async function runCheck({ name, command, args }, options = {}) {
  const startedAt = Date.now();
  const { code, output } = await run(bin(command), args, { env: { NO_COLOR: '1', ...thrifty }, ...options });
  const [first = '', ...others] = [...output.matchAll(/^figures: (.*)$/gm)].map(([, each]) => each);
  const isGood = code === 0;
  const word = isGood ? 'ok    ' : 'FAILED';
  const line = `${word}  ${name.padEnd(18)} ${seconds(Date.now() - startedAt)}  ${first}`.trimEnd();
  const more = others.map((each) => `${' '.repeat(line.length - first.length)}${each}`);
  return { isGood, lines: isGood ? [line, ...more] : [line, output.trimEnd()] };
}

await main(import.meta.url, async (only) => {
  const names = checks.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw wrongUse(import.meta.url, `There is no check "${unknown}"; there are ${names.join(', ')}.`);
  await setUp({ allowTypeErrors: true });
  const failed = await check(only.length > 0 ? { only } : {});
  if (failed.length === 0) return 0;
  say(
    `Not in order: ${failed.join(', ')}.${failed.includes('format') ? ' `npm run format` puts the format right.' : ''}`,
  );
  return 1;
});
