/**
 * `npm run check`: format, lint, types, unused code, layers and style. All checks run, even if one fails.
 *
 *   npm run check -- format types   only these checks
 */
import { bin, main, print, run, seconds } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { usageError } from './usage.mjs';

const checks = [
  { name: 'format', command: 'biome', args: ['check', '--linter-enabled=false', '--error-on-warnings', '.'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  // The threads of tsc share nothing and repeat the same work: four of them use more than twice the time of one.
  { name: 'types', command: 'tsc', args: ['--noEmit', '--singleThreaded'] },
  { name: 'unused code', command: 'knip', args: ['--no-progress', '--no-config-hints'] },
  { name: 'layers and style', command: 'vitest', args: ['run', '--project', 'conventions', '--reporter', 'dot'] },
];

/** Compiler and linter are Go programs: one thread each, and fewer garbage collections, because other checks run too. */
const goSettings = { GOGC: '400', GOMAXPROCS: '1' };

/** Runs the checks, two at a time for two cores; returns the names of the failed ones. */
export async function check({ only = checks.map((each) => each.name) } = {}) {
  const waiting = checks.filter((each) => only.includes(each.name));
  const failed = [];
  const runNext = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { isGood, lines } = await runCheck(next);
      for (const line of lines) print(line);
      if (!isGood) failed.push(next.name);
    }
  };
  await Promise.all([runNext(), runNext()]);
  return failed;
}

/**
 * Starts the checks that are not test suites, one after another, with low priority. Returns a function that waits for
 * them, prints their results, and returns whether all passed.
 */
export function checkInBackground() {
  const outcomes = (async () => {
    const outcomes = [];
    for (const each of checks.filter(({ command }) => command !== 'vitest'))
      outcomes.push(await runCheck(each, { isLowPriority: true }));
    return outcomes;
  })();
  // The returned function reports a rejection; until then it must not be unhandled.
  outcomes.catch(() => undefined);
  return async () => {
    for (const line of (await outcomes).flatMap(({ lines }) => lines)) print(line);
    return (await outcomes).every(({ isGood }) => isGood);
  };
}

async function runCheck({ name, command, args }, options = {}) {
  const startedAt = Date.now();
  const { code, output } = await run(bin(command), args, { env: { NO_COLOR: '1', ...goSettings }, ...options });
  const [first = '', ...others] = [...output.matchAll(/^figures: (.*)$/gm)].map(([, each]) => each);
  const isGood = code === 0;
  const status = isGood ? 'ok    ' : 'FAILED';
  const line = `${status}  ${name.padEnd(18)} ${seconds(Date.now() - startedAt)}  ${first}`.trimEnd();
  const more = others.map((each) => `${' '.repeat(line.length - first.length)}${each}`);
  return { isGood, lines: isGood ? [line, ...more] : [line, output.trimEnd()] };
}

await main(import.meta.url, async (only) => {
  const names = checks.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw usageError(import.meta.url, `There is no check "${unknown}". Checks: ${names.join(', ')}.`);
  await setUp({ allowTypeErrors: true });
  const failed = await check(only.length > 0 ? { only } : {});
  if (failed.length === 0) return 0;
  print(`Failed: ${failed.join(', ')}.${failed.includes('format') ? ' `npm run format` fixes the format.' : ''}`);
  return 1;
});
