/**
 * `npm run test:mutants`: applies one seeded bug at a time and checks that the test suites catch it.
 *
 *   npm run test:mutants                       every mutant of test/mutants/list.mjs
 *   npm run test:mutants -- --only 'key,lua'   mutants whose name or file contains one of the words
 *   npm run test:mutants -- --by model         only suites whose path contains the word
 *
 * Mutants are applied to copies of the tree, one after another in each copy, so that most of its build and of its caches
 * stays valid; the tree itself stays unchanged. Only the changed file is compiled. test/test-report.md records a full run.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutants } from '../test/mutants/list.mjs';
import { build } from './build.mjs';
import { findRedis } from './find-redis.mjs';
import { copyTree, inTemporaryDirectory, patch, updateBuild } from './mutants/mutant-tree.mjs';
import { main, print, root, run, seconds, UserError } from './script-support.mjs';
import { recordMutants } from './test-report.mjs';
import { parseOptions } from './usage.mjs';

/** More than cores: suites of processes mostly wait. */
const concurrency = 3;
/** Time limits: for the suites of one mutant, and for all suites on the unchanged code. */
const timeoutMs = { mutant: 240_000, unchanged: 900_000 };
/** Suites that load nothing from dist/: a mutant that only they have to catch needs no build. */
const fromSource = /^(test\/(contract|model)\/(memory|redis)\.test|src\/stores\/redis\/fast-path|src\/core\/)/;

await main(import.meta.url, async (args) => {
  const word = { type: 'string', default: '' };
  const { only, by } = parseOptions(import.meta.url, { args, options: { only: word, by: word } }).values;
  const chosen = mutants
    .map((mutant) => ({ ...mutant, suites: mutant.suites.filter((suite) => suite.includes(by)) }))
    .filter(({ name, file, suites }) => suites.length > 0 && isOneOf(`${name} ${file}`, only));
  if (chosen.length === 0) throw new UserError('No mutant matches these options.', { exitCode: 2 });
  const startedAt = Date.now();
  await build();
  const results = await inTemporaryDirectory(async (folder) => {
    const original = copyTree(root, join(folder, 'original'));
    for (const mutant of chosen) patch(original, mutant, { isTrial: true });
    const context = { folder, original, redis: await findRedis() };
    await checkOriginal(chosen, context);
    return inParallel(chosen, context);
  });
  report(results);
  const survived = results.filter(({ isCaught }) => !isCaught).length;
  const caught = results.length - survived;
  const tookMs = Date.now() - startedAt;
  if (chosen.length === mutants.length)
    recordMutants({ caught, all: results.length, tookMs, redis: await findRedis() });
  print(`${caught} of ${results.length} mutants were caught, ${seconds(tookMs)}.`);
  return survived === 0 ? 0 : 1;
});

function isOneOf(text, words) {
  return words.split(',').some((word) => text.includes(word.trim()));
}

/** Tries the mutants, several at a time, each in the copy of its slot. Returns the results in the order of the mutants. */
async function inParallel(chosen, { folder, original, redis }) {
  const results = [];
  let next = 0;
  const runSlot = async (_, slot) => {
    const tree = copyTree(original, join(folder, `slot-${slot}`));
    while (next < chosen.length) {
      const index = next++;
      results[index] = await tryMutant(chosen[index], { tree, redis });
      const { mutant, verdict } = results[index];
      print(`  ${mutant.name}: ${verdict}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, runSlot));
  return results;
}

/** Requires that the suites pass on the unchanged code: a suite that fails anyway would catch every mutant. */
async function checkOriginal(chosen, { original, redis }) {
  const suites = [...new Set(chosen.flatMap((mutant) => mutant.suites))];
  print(`${chosen.length} mutants; first the ${suites.length} suites on the unchanged code.`);
  const verdict = await runSuites(original, suites, { redis, workers: concurrency, limitMs: timeoutMs.unchanged });
  if (verdict !== '') throw new UserError(`The suites fail without any mutant: ${verdict}`, { exitCode: 2 });
}

async function tryMutant(mutant, { tree, redis }) {
  const path = join(tree, mutant.file);
  const before = readFileSync(path, 'utf8');
  const isBuilt = !mutant.suites.every((suite) => fromSource.test(suite));
  patch(tree, mutant);
  if (isBuilt) await updateBuild(tree, mutant.file);
  const verdict = await runSuites(tree, mutant.suites, { redis, workers: 1, limitMs: timeoutMs.mutant });
  writeFileSync(path, before);
  if (isBuilt) await updateBuild(tree, mutant.file);
  return { mutant, isCaught: verdict !== '', verdict: verdict || 'SURVIVED' };
}

/** Returns the title of the first failed test, or an empty string if all passed. */
async function runSuites(tree, suites, { redis, workers, limitMs }) {
  const results = join(tree, 'results.json');
  rmSync(results, { force: true });
  const reporter = ['--reporter', 'json', '--outputFile', results];
  const args = ['run', '--bail', '1', '--maxWorkers', String(workers), ...reporter, ...suites];
  const env = redis ? { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env } : {};
  // Limits the time, because a mutant can make a suite wait forever.
  const guarded = ['-k', '10', String(limitMs / 1000), join(tree, 'node_modules', '.bin', 'vitest'), ...args];
  const { code, output } = await run('timeout', guarded, {
    cwd: tree,
    env: {
      ...env,
      LONGHAUL_PROOF: 'small',
      LONGHAUL_DIST: 'as-is',
    },
  });
  if (code === 0) return '';
  if (code === 124 || code === 137) return `the suites did not end within ${seconds(limitMs)}`;
  if (!existsSync(results)) throw new UserError(`The suites did not run: exit code ${code}.`, { output });
  return firstFailure(JSON.parse(readFileSync(results, 'utf8')), output);
}

function firstFailure({ testResults }, output) {
  for (const { assertionResults, message, name } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed');
    if (failed) return [...failed.ancestorTitles.slice(1), failed.title].join(': ');
    if (message) return `${name.split('/').at(-1)}: ${message.split('\n')[0]}`;
  }
  throw new UserError('The suites failed without a failed test.', { output });
}

function report(results) {
  const width = (of) => Math.max(...results.map(of));
  const names = width(({ mutant }) => mutant.name.length);
  const files = width(({ mutant }) => mutant.file.length);
  print('');
  print(`${'mutant'.padEnd(names)}  ${'file'.padEnd(files)}  caught by`);
  for (const { mutant, verdict } of results) {
    print(`${mutant.name.padEnd(names)}  ${mutant.file.padEnd(files)}  ${verdict}`);
  }
  print('');
}
