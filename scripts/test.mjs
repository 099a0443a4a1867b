/**
 * `npm test`: makes things ready, finds a Redis, runs every suite and beside them the checks.
 *
 *   npm test                        every proof at a small size, within 10 minutes on two cores
 *   npm run test:all                the full sizes, suite after suite, and the mutants; docs/test-report.md keeps what was green
 *   npm run test:all -- --only test/faults test/relay
 *   npm test -- --only test/model   one folder, without the checks
 *   npm test -- -- -t 'a title'     what follows a bare -- goes to vitest
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { check, checkBeside } from './check.mjs';
import { findPrograms } from './find-programs.mjs';
import { findRedis } from './find-redis.mjs';
import { bin, cacheFolder, leaveCertificatesOut, main, root, run, say, seconds } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { recordSuite } from './test-report.mjs';
import { wrongUse } from './usage.mjs';

const limitMs = 10 * 60_000;
const results = join(cacheFolder, 'results.json');
const outcome = join(cacheFolder, 'outcome.json');
const outcomeReporter = join(root, 'test', 'support', 'outcome-reporter.ts');
const mutants = join(root, 'scripts', 'mutants.mjs');
/** At full size some of these start fifty processes, and others are timed: each has the machine for itself. */
const oneByOne = new Set(['test/faults']);
/** A run with more retried tests than this fails. */
const maxRetries = 5;

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
  leaveCertificatesOut();
  await findPrograms();
  const redis = await findRedis();
  say(
    redis
      ? `Redis for the tests: ${redis.path} (${redis.version})`
      : 'There is no Redis server: its tests will not run.',
  );
  // All suites at their small size leave the cores idle at times, and have the checks of layers and style among them.
  const isWhole = folders.length === 0;
  const checked = isWhole && !isFull && rest.length === 0 ? checkBeside() : null;
  if (isWhole && checked === null) await step('checks', async () => (await check()).length === 0);
  if (isFull && rest.length === 0) {
    for (const suite of folders.length > 0 ? folders : allSuites()) {
      await step(`${suite} at full size`, () => proveSuite(suite, redis));
    }
  } else {
    await step('suites', async () => (await runSuites({ redis, isFull, args: [...folders, ...rest] })).isGood);
    if (checked !== null) await step('checks', checked);
  }
  if (isFull && folders.length === 0) await step('mutants', runMutants);
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
  throw wrongUse(import.meta.url, `Unknown argument ${unknown.join(' ')}.`);
}

/** Those beside the sources, all at once, and each folder of test/ that has tests. */
function allSuites() {
  const hasTests = (name) => readdirSync(join(root, 'test', name)).some((file) => file.endsWith('.test.ts'));
  const isFolder = (entry) => entry.isDirectory() && hasTests(entry.name);
  const folders = readdirSync(join(root, 'test'), { withFileTypes: true }).filter(isFolder);
  return ['unit', ...folders.map(({ name }) => `test/${name}`)];
}

/** Part of a suite can be run as well, but proves nothing of the whole. */
async function proveSuite(name, redis) {
  const startedAt = Date.now();
  const suite = name.replace(/\/$/, '');
  const isWhole = allSuites().includes(suite);
  const folder = suite === 'unit' ? ['--project', 'unit'] : [isWhole ? `${suite}/` : suite];
  const args = oneByOne.has(suite) ? [...folder, '--maxWorkers=1'] : folder;
  const { isGood, output, retries } = await runSuites({ redis, isFull: true, args });
  if (!isGood || !isWhole) return isGood;
  const tests = JSON.parse(readFileSync(results, 'utf8')).numTotalTests;
  recordSuite(suite, { tests, retries, tookMs: Date.now() - startedAt, output, redis });
  return true;
}

async function runSuites({ redis, isFull, args }) {
  mkdirSync(cacheFolder, { recursive: true });
  for (const file of [results, outcome]) rmSync(file, { force: true });
  const env = {
    LONGHAUL_PROOF: isFull ? 'full' : (process.env.LONGHAUL_PROOF ?? 'small'),
    LONGHAUL_OUTCOME: outcome,
    ...(redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {}),
  };
  const reporters = ['default', 'json', outcomeReporter].map((name) => `--reporter=${name}`);
  const words = ['run', ...reporters, `--outputFile.json=${results}`, ...args];
  const { code, output } = await run(bin('vitest'), words, { show: isFull ? 'copy' : true, env });
  const notRun = reportNotRun();
  const mayLeaveOut = process.env.CI !== 'true' || args.length > 0;
  const retries = reportRetries();
  const isGood = code === 0 && retries <= maxRetries && (notRun === 0 || mayLeaveOut);
  return { isGood, output, retries };
}

/** Prints every test that passed only on a retry, with its file. Returns how many there are. */
function reportRetries() {
  if (!existsSync(outcome)) return 0;
  const { retries } = JSON.parse(readFileSync(outcome, 'utf8'));
  say(
    `${retries.length} tests were retried${retries.length > maxRetries ? `; more than ${maxRetries} fail a run` : ''}.`,
  );
  for (const { file, title, retries: times } of retries) say(`  ${file}: ${title} (${times})`);
  return retries.length;
}

/** Prints the tests that were skipped; in CI they fail the run. Returns how many there are. */
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

async function runMutants() {
  const { code } = await run(process.execPath, [mutants], { show: true });
  return code === 0;
}

function report({ failed, tookMs, isFull }) {
  if (!isFull && tookMs > limitMs)
    say(`This took ${seconds(tookMs)}; it should end within ${seconds(limitMs)} on two cores.`);
  say(failed.length === 0 ? `All is well, ${seconds(tookMs)}.` : `Failed: ${failed.join(', ')} (${seconds(tookMs)}).`);
  return failed.length === 0 ? 0 : 1;
}
