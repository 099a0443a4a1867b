/**
 * `npm run test:mutants`: breaks Longhaul on purpose, one seeded bug at a time, and looks whether the suites notice.
 *
 *   npm run test:mutants                       every bug of test/mutants/list.mjs
 *   npm run test:mutants -- --only 'key,lua'   those whose name or file contains one of the words
 *   npm run test:mutants -- --by model         with those suites alone whose path contains the word
 *
 * Each bug is put into a copy of the tree, so that the tree itself is never touched. A run of all of them is recorded in docs/test-report.md.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mutants } from '../test/mutants/list.mjs';
import { findRedis } from './find-redis.mjs';
import { main, root, run, say, seconds, Trouble } from './script-support.mjs';
import { recordMutants } from './test-report.mjs';
import { readOptions } from './usage.mjs';

const lanes = 2;
/** Of the suites of one mutant; those of all mutants together, on code that is whole, may take longer. */
const timeoutMs = { mutant: 240_000, whole: 900_000 };
const notCopied = new Set(['.git', 'node_modules', 'dist', 'build', 'coverage', 'docs', 'bench']);

await main(import.meta.url, async (args) => {
  const word = { type: 'string', default: '' };
  const { only, by } = readOptions(import.meta.url, { args, options: { only: word, by: word } }).values;
  const chosen = mutants
    .map((mutant) => ({ ...mutant, suites: mutant.suites.filter((suite) => suite.includes(by)) }))
    .filter(({ name, file, suites }) => suites.length > 0 && isOneOf(`${name} ${file}`, only));
  if (chosen.length === 0) throw new Trouble('There is no such mutant.', { exitCode: 2 });
  const startedAt = Date.now();
  const results = await inFolder(async (folder) => {
    const whole = copyTree(root, join(folder, 'whole'));
    for (const mutant of chosen) patch(whole, mutant, { isTrial: true });
    const arena = { folder, whole, redis: await findRedis() };
    await tryUnharmed(chosen, arena);
    return inLanes(chosen, (mutant) => tryMutant(mutant, arena));
  });
  report(results);
  const survived = results.filter(({ isCaught }) => !isCaught).length;
  const caught = results.length - survived;
  const tookMs = Date.now() - startedAt;
  if (chosen.length === mutants.length)
    recordMutants({ caught, all: results.length, tookMs, redis: await findRedis() });
  say(`${caught} of ${results.length} mutants were caught, ${seconds(tookMs)}.`);
  return survived === 0 ? 0 : 1;
});

function isOneOf(text, words) {
  return words.split(',').some((word) => text.includes(word.trim()));
}

/** The results in the order of the items, whichever lane they were made in. */
async function inLanes(items, work) {
  const results = [];
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const place = next++;
      results[place] = await work(items[place]);
      const { mutant, verdict } = results[place];
      say(`  ${mutant.name}: ${verdict}`);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Suites that fail by themselves would catch everything. */
async function tryUnharmed(chosen, { whole, redis }) {
  const suites = [...new Set(chosen.flatMap((mutant) => mutant.suites))];
  say(`${chosen.length} mutants; first the ${suites.length} suites on code that is whole.`);
  const verdict = await runSuites(whole, suites, { redis, workers: lanes, limitMs: timeoutMs.whole });
  if (verdict !== '') throw new Trouble(`The suites fail without any mutant: ${verdict}`, { exitCode: 2 });
}

async function tryMutant(mutant, { folder, whole, redis }) {
  const tree = copyTree(whole, mkdtempSync(join(folder, 'mutant-')));
  patch(tree, mutant);
  const verdict = await runSuites(tree, mutant.suites, { redis, workers: 1, limitMs: timeoutMs.mutant });
  rmSync(tree, { recursive: true, force: true });
  return { mutant, isCaught: verdict !== '', verdict: verdict || 'SURVIVED' };
}

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-mutants-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Everything that the suites need, with the packages by reference and their caches left behind. */
function copyTree(from, tree) {
  const packages = join(tree, 'node_modules');
  mkdirSync(packages, { recursive: true });
  for (const name of readdirSync(from)) {
    if (!notCopied.has(name)) cpSync(join(from, name), join(tree, name), { recursive: true });
  }
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.cache' && !name.startsWith('.vite')) {
      symlinkSync(join(root, 'node_modules', name), join(packages, name));
    }
  }
  return tree;
}

/** A patch that no longer fits its file is a mistake in the list and not a bug that was caught. */
function patch(tree, { name, file, find, replace, and }, { isTrial = false } = {}) {
  const path = join(tree, file);
  if (!existsSync(path)) throw new Trouble(`Mutant "${name}": there is no ${file}.`, { exitCode: 2 });
  const text = readFileSync(path, 'utf8');
  const times = text.split(find).length - 1;
  if (times !== 1) {
    throw new Trouble(`Mutant "${name}": its text stands ${times} times in ${file}, and must once:\n${find}`, {
      exitCode: 2,
    });
  }
  if (!isTrial)
    writeFileSync(
      path,
      text.replace(find, () => replace),
    );
  if (and) patch(tree, { name, file, ...and }, { isTrial });
}

/** The title of the first test that failed, or nothing when none did. */
async function runSuites(tree, suites, { redis, workers, limitMs }) {
  const results = join(tree, 'results.json');
  rmSync(results, { force: true });
  const reporter = ['--reporter', 'json', '--outputFile', results];
  const args = ['run', '--bail', '1', '--maxWorkers', String(workers), ...reporter, ...suites];
  const env = redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {};
  // The guard against a bug that makes a suite wait for ever.
  const guarded = ['-k', '10', String(limitMs / 1000), join(tree, 'node_modules', '.bin', 'vitest'), ...args];
  const { code, output } = await run('timeout', guarded, {
    cwd: tree,
    env: { ...env, LONGHAUL_PROOF: 'small' },
  });
  if (code === 0) return '';
  if (code === 124 || code === 137) return `the suites did not end within ${seconds(limitMs)}`;
  if (!existsSync(results)) throw new Trouble(`The suites did not run: exit code ${code}.`, { output });
  return firstFailure(JSON.parse(readFileSync(results, 'utf8')), output);
}

function firstFailure({ testResults }, output) {
  for (const { assertionResults, message, name } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) return [...failed.ancestorTitles.slice(1), failed.title].join(': ');
    if (message) return `${name.split('/').at(-1)}: ${message.split('\n')[0]}`;
  }
  throw new Trouble('The suites failed without a failed test.', { output });
}

function report(results) {
  const width = (of) => Math.max(...results.map(of));
  const names = width(({ mutant }) => mutant.name.length);
  const files = width(({ mutant }) => mutant.file.length);
  say('');
  say(`${'mutant'.padEnd(names)}  ${'where'.padEnd(files)}  caught by`);
  for (const { mutant, verdict } of results) {
    say(`${mutant.name.padEnd(names)}  ${mutant.file.padEnd(files)}  ${verdict}`);
  }
  say('');
}
