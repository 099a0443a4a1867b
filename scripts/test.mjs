/**
 * `npm test`: makes things ready, finds a Redis, runs the checks and then every suite.
 *
 *   npm test                        every proof at a small size, within 8 minutes on two cores
 *   npm run test:all                the full sizes, and the mutants
 *   npm test -- --only test/model   one folder, without the checks
 *   npm test -- -- -t 'a title'     what follows a bare -- goes to vitest
 */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { check } from './check.mjs';
import { findPrograms } from './find-programs.mjs';
import { findRedis } from './find-redis.mjs';
import { bin, cacheFolder, main, root, run, say, seconds, Trouble } from './house.mjs';
import { writeProofs } from './proofs.mjs';
import { setUp } from './setup.mjs';

const limitMs = 8 * 60_000;
const results = join(cacheFolder, 'results.json');
const mutants = join(root, 'scripts', 'mutants.mjs');

await main(import.meta.url, async (args) => {
  const { isFull, folders, rest } = readArguments(args);
  const startedAt = Date.now();
  const failed = [];
  const step = async (name, work) => {
    const stepStartedAt = Date.now();
    const isGood = await work();
    if (!isGood) failed.push(name);
    say(`-- ${name}: ${isGood ? 'ok' : 'FAILED'}, ${seconds(Date.now() - stepStartedAt)}\n`);
  };

  await setUp({ allowTypeErrors: true });
  await findPrograms();
  const redis = await findRedis();
  say(
    redis
      ? `Redis for the tests: ${redis.path} (${redis.version})`
      : 'There is no Redis server: its tests will not run.',
  );
  if (folders.length === 0) await step('checks', async () => (await check()).length === 0);
  const outputs = [];
  await step('suites', () => runSuites({ redis, isFull, args: [...folders, ...rest], outputs }));
  if (isFull && folders.length === 0) await step('mutants', () => runMutants(outputs));
  if (isFull && folders.length === 0 && failed.length === 0) writeProofs({ outputs, results, redis });
  return report({ failed, tookMs: Date.now() - startedAt, isFull });
});

function readArguments(args) {
  const cut = args.includes('--') ? args.indexOf('--') : args.length;
  const [own, rest] = [args.slice(0, cut), args.slice(cut + 1)];
  const isFull = own.includes('--full');
  const folders = own.includes('--only')
    ? own.slice(own.indexOf('--only') + 1).filter((each) => each !== '--full')
    : [];
  const known = new Set(['--full', '--only', ...folders]);
  const unknown = own.filter((each) => !known.has(each));
  if (unknown.length === 0) return { isFull, folders, rest };
  throw new Trouble(
    `Unknown argument ${unknown.join(' ')}. Use --full, --only <folder …>, or -- and arguments of vitest.`,
    {
      exitCode: 2,
    },
  );
}

async function runSuites({ redis, isFull, args, outputs }) {
  mkdirSync(cacheFolder, { recursive: true });
  rmSync(results, { force: true });
  const env = {
    LONGHAUL_PROOF: isFull ? 'full' : (process.env.LONGHAUL_PROOF ?? 'small'),
    ...(redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {}),
  };
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const { code, output } = await run(bin('vitest'), ['run', ...reporters, ...args], {
    show: isFull ? 'copy' : true,
    env,
  });
  outputs.push(output);
  const notRun = reportNotRun();
  const mayLeaveOut = process.env.CI !== 'true' || args.length > 0;
  return code === 0 && (notRun === 0 || mayLeaveOut);
}

/** A proof that was not run is never silent, and fails in CI. Answers how many there are. */
function reportNotRun() {
  if (!existsSync(results)) return 0;
  const files = JSON.parse(readFileSync(results, 'utf8')).testResults;
  const isNotRun = ({ status }) => ['skipped', 'pending', 'todo'].includes(status);
  const notRun = files.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(isNotRun).map(({ fullName }) => `${name.slice(root.length + 1)}: ${fullName}`),
  );
  if (notRun.length === 0) return 0;
  say(`${notRun.length} tests were not run:`);
  for (const line of notRun.slice(0, 20)) say(`  ${line}`);
  if (notRun.length > 20) say(`  … and ${notRun.length - 20} more`);
  return notRun.length;
}

async function runMutants(outputs) {
  if (!existsSync(mutants)) {
    say('There is no scripts/mutants.mjs yet, so no mutants were tried.');
    return true;
  }
  const { code, output } = await run(process.execPath, [mutants], { show: 'copy' });
  outputs.push(output);
  return code === 0;
}

function report({ failed, tookMs, isFull }) {
  if (!isFull && tookMs > limitMs)
    say(`This took ${seconds(tookMs)}; it should end within ${seconds(limitMs)} on two cores.`);
  say(failed.length === 0 ? `All is well, ${seconds(tookMs)}.` : `Failed: ${failed.join(', ')} (${seconds(tookMs)}).`);
  return failed.length === 0 ? 0 : 1;
}
