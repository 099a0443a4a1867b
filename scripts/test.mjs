/**
 * `npm test`: prepares the repository, finds Redis and PostgreSQL servers, runs every suite and, at the same time, the checks.
 *
 *   npm test                        every suite at small size, within 10 minutes on two cores
 *   npm run test:all                every suite at full size, one after another, and the mutants; updates test/test-report.md
 *   npm run test:all -- --only test/faults test/relay
 *   npm test -- --only test/model   one folder, without the checks
 *   npm test -- -- -t 'a title'     arguments after a bare -- go to vitest
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { check, checkInBackground } from './check.mjs';
import { findNodes } from './find-nodes.mjs';
import { findPostgres } from './find-postgres.mjs';
import { findPrograms } from './find-programs.mjs';
import { findRedis } from './find-redis.mjs';
import { bin, cacheFolder, dropExtraCertificates, main, print, root, run, seconds } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { recordSuite } from './test-report.mjs';
import { usageError } from './usage.mjs';

const limitMs = 10 * 60_000;
const results = join(cacheFolder, 'results.json');
const outcome = join(cacheFolder, 'outcome.json');
const outcomeReporter = join(root, 'test', 'support', 'outcome-reporter.ts');
const mutants = join(root, 'scripts', 'mutants.mjs');
/** Suites whose files run one at a time at full size: some start fifty processes, others measure time. */
const oneByOne = new Set(['test/faults', 'test/chaos']);
/** A run with more retried tests than this fails. */
const maxRetries = 5;

/** Tests that need a checkout or the documents of RQ, qless, Worqr or Blueque, which the repository does not contain. */
const needsOriginals =
  /^test\/compat\/(?:originals\/|rq-(?:programs|record|relay)\.test|table\.test\.ts: Every promise is in its document)/;

await main(import.meta.url, async (args) => {
  const { isFull, folders, rest } = parseArguments(args);
  const startedAt = Date.now();
  const failed = [];
  const step = async (name, work) => {
    const stepStartedAt = Date.now();
    const isGood = await work();
    if (!isGood) failed.push(name);
    print(`-- ${name}: ${isGood ? 'ok' : 'FAILED'}, ${seconds(Date.now() - stepStartedAt)}\n`);
  };

  await setUp({ allowTypeErrors: true });
  dropExtraCertificates();
  await findPrograms();
  const redis = await findRedis();
  print(
    redis
      ? `Redis for the tests: ${redis.path} (${redis.version})`
      : 'No Redis server: the tests that need one are skipped.',
  );
  const postgres = await findPostgres();
  if (postgres) process.env.LONGHAUL_POSTGRES_BIN = postgres.bin;
  print(
    postgres
      ? `PostgreSQL for the tests: ${postgres.bin} (${postgres.version})`
      : 'No PostgreSQL server: the tests that need one are skipped.',
  );
  // Suites at small size leave the cores idle at times, so the checks run beside them; the conventions are a suite anyway.
  const isWhole = folders.length === 0;
  const checked = isWhole && !isFull && rest.length === 0 ? checkInBackground() : null;
  if (isWhole && checked === null) await step('checks', async () => (await check()).length === 0);
  if (isFull && rest.length === 0) {
    for (const suite of folders.length > 0 ? folders : allSuites()) {
      await step(`${suite} at full size`, () => runFullSuite(suite, redis));
    }
  } else {
    await step('suites', async () => (await runSuites({ redis, isFull, args: [...folders, ...rest] })).isGood);
    if (checked !== null) await step('checks', checked);
  }
  if (isFull && folders.length === 0) await step('mutants', runMutants);
  return report({ failed, tookMs: Date.now() - startedAt, isFull });
});

function parseArguments(args) {
  const cut = args.includes('--') ? args.indexOf('--') : args.length;
  const [own, rest] = [args.slice(0, cut), args.slice(cut + 1)];
  const isFull = own.includes('--full');
  const folders = own.includes('--only')
    ? own.slice(own.indexOf('--only') + 1).filter((each) => each !== '--full')
    : [];
  const known = new Set(['--full', '--only', ...folders]);
  const unknown = own.filter((each) => !known.has(each));
  if (unknown.length === 0) return { isFull, folders, rest };
  throw usageError(import.meta.url, `Unknown argument ${unknown.join(' ')}.`);
}

/** Returns the unit tests as one suite, and each folder of test/ that has tests. */
function allSuites() {
  const hasTests = (name) => readdirSync(join(root, 'test', name)).some((file) => file.endsWith('.test.ts'));
  const isFolder = (entry) => entry.isDirectory() && hasTests(entry.name);
  const folders = readdirSync(join(root, 'test'), { withFileTypes: true }).filter(isFolder);
  return ['unit', ...folders.map(({ name }) => `test/${name}`)];
}

/** Runs a suite at full size and records it. A part of a suite is run but not recorded. */
async function runFullSuite(name, redis) {
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
  const nodes = isFull ? await findNodes() : [];
  const env = {
    ...(nodes.length > 0 && { LONGHAUL_TEST_NODES: nodes.join(delimiter) }),
    LONGHAUL_PROOF: isFull ? 'full' : (process.env.LONGHAUL_PROOF ?? 'small'),
    LONGHAUL_OUTCOME: outcome,
    ...(redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {}),
  };
  const reporters = ['default', 'json', outcomeReporter].map((name) => `--reporter=${name}`);
  const vitestArgs = ['run', ...reporters, `--outputFile.json=${results}`, ...args];
  const { code, output } = await run(bin('vitest'), vitestArgs, { show: isFull ? 'copy' : true, env });
  const notRun = reportNotRun();
  const maySkip = process.env.CI !== 'true' || args.length > 0;
  const retries = reportRetries();
  const isGood = code === 0 && retries <= maxRetries && (notRun === 0 || maySkip);
  return { isGood, output, retries };
}

/** Prints every test that passed only on a retry, with its file and first error. Returns how many there are. */
function reportRetries() {
  if (!existsSync(outcome)) return 0;
  const { retries } = JSON.parse(readFileSync(outcome, 'utf8'));
  print(
    `${retries.length} tests were retried${retries.length > maxRetries ? `; more than ${maxRetries} fail a run` : ''}.`,
  );
  for (const { file, title, retries: times, error } of retries)
    print(`  ${file}: ${title} (${times})\n    ${error.split('\n')[0]}`);
  return retries.length;
}

/** Prints the tests that were skipped. Returns how many there are that could have run; in CI they fail the run. */
function reportNotRun() {
  if (!existsSync(results)) return 0;
  const files = JSON.parse(readFileSync(results, 'utf8')).testResults;
  const isNotRun = ({ status }) => ['skipped', 'pending', 'todo'].includes(status);
  const notRun = files.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(isNotRun).map(({ fullName }) => `${name.slice(root.length + 1)}: ${fullName}`),
  );
  if (notRun.length === 0) return 0;
  print(`${notRun.length} tests were skipped:`);
  for (const line of notRun.slice(0, 20)) print(`  ${line}`);
  if (notRun.length > 20) print(`  … and ${notRun.length - 20} more`);
  const originals = notRun.filter((line) => needsOriginals.test(line)).length;
  if (originals > 0) print(`${originals} of them need the originals: test/compat says how to run them.`);
  return notRun.length - originals;
}

async function runMutants() {
  const { code } = await run(process.execPath, [mutants], { show: true });
  return code === 0;
}

function report({ failed, tookMs, isFull }) {
  if (!isFull && tookMs > limitMs)
    print(`This took ${seconds(tookMs)}; the target is ${seconds(limitMs)} on two cores.`);
  print(
    failed.length === 0 ? `All passed in ${seconds(tookMs)}.` : `Failed: ${failed.join(', ')} (${seconds(tookMs)}).`,
  );
  return failed.length === 0 ? 0 : 1;
}
