/**
 * `npm run check`: format, lint, types, unused code, layers and style. All of them run, also when one fails.
 *
 *   npm run check -- format types   some of them
 */
import { bin, main, run, say, seconds } from './house.mjs';
import { setUp } from './setup.mjs';
import { wrongUse } from './usage.mjs';

const checks = [
  { name: 'format', command: 'biome', args: ['check', '--linter-enabled=false', '--error-on-warnings', '.'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  { name: 'types', command: 'tsc', args: ['--noEmit'] },
  { name: 'unused code', command: 'knip', args: ['--no-progress', '--no-config-hints'] },
  { name: 'layers and style', command: 'vitest', args: ['run', '--project', 'house', '--reporter', 'dot'] },
];

/** Runs the checks, two at a time so that two cores are kept busy and not more; answers the names of those that failed. */
export async function check({ only = checks.map((each) => each.name) } = {}) {
  const waiting = checks.filter((each) => only.includes(each.name));
  const failed = [];
  const lane = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (!(await runCheck(next))) failed.push(next.name);
    }
  };
  await Promise.all([lane(), lane()]);
  return failed;
}

async function runCheck({ name, command, args }) {
  const startedAt = Date.now();
  const { code, output } = await run(bin(command), args, { env: { NO_COLOR: '1' } });
  const figures = /^figures: (.*)$/m.exec(output)?.[1] ?? '';
  say(
    `${code === 0 ? 'ok    ' : 'FAILED'}  ${name.padEnd(18)} ${seconds(Date.now() - startedAt)}  ${figures}`.trimEnd(),
  );
  if (code !== 0) say(output.trimEnd());
  return code === 0;
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
