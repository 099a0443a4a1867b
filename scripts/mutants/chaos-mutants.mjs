/**
 * `npm run chaos -- --mutants`: switches ten mutants of test/mutants on one by one and runs chaos until it finds each, for
 * at most five minutes. A harness that does not find seeded bugs would not find real ones either.
 *
 * A mutant counts as found only by a finding of the checks, not by a run that fails.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutants } from '../../test/mutants/list.mjs';
import { bundleProgram } from '../bundle-fixtures.mjs';
import { print, root, run, seconds, UserError } from '../script-support.mjs';
import { copyTree, inTemporaryDirectory, patch, updateBuild } from './mutant-tree.mjs';

/**
 * Bugs of tokens, repeats, processes that share a file, limits, output, steps and counts, with the store in which each
 * shows. Left out are bugs that a second safeguard hides, such as a claim that leaves expired leases to the maintenance.
 */
export const CHAOS_MUTANTS = [
  ['a stale token can settle', 'sqlite'],
  ['sqlite: the counts drift', 'sqlite'],
  ['sqlite: each process gives its own tokens', 'sqlite'],
  ['sqlite: writes of other engines are not detected', 'sqlite'],
  ['the last output of a script is cut off', 'sqlite'],
  ['redis: the fast path of an add overwrites an existing job', 'redis'],
  ['redis: the fast path accepts a completion with a stale token', 'redis'],
  ['redis: the fast path of a claim gives a token twice', 'redis'],
  ['redis: the fast path ignores limits', 'redis'],
  ['steps: a kept step runs again in a later attempt', 'redis'],
];

const LEAST_FOUND = 8;
const LIMIT_MS = 300_000;
/** Checks come at the end of a run: several short runs find a bug earlier than a long one. */
const ROUND = { minutes: 0.5, everyMs: 400 };

/** Returns the exit code: 0 if enough mutants were found. `only` chooses mutants by a part of their name. */
export async function findMutants({ only, seed, env }) {
  const chosen = CHAOS_MUTANTS.filter(([name]) => name.includes(only));
  if (chosen.length === 0) throw new UserError(`No mutant of a chaos run contains "${only}".`, { exitCode: 2 });
  const results = await inTemporaryDirectory(async (folder) => {
    const tree = copyTree(root, join(folder, 'tree'));
    const found = [];
    for (const [name, store] of chosen) found.push(await tryMutant(mutantOf(name), { tree, store, seed, env }));
    return found;
  });
  const count = results.filter(({ isFound }) => isFound).length;
  print('\n| mutant | store | found by | after |\n| --- | --- | --- | --- |');
  for (const { name, store, verdict, ms } of results) print(`| ${name} | ${store} | ${verdict} | ${seconds(ms)} |`);
  print(`\nfigures: chaos, mutants: tried=${results.length} found=${count}`);
  return count >= Math.min(LEAST_FOUND, chosen.length) ? 0 : 1;
}

function mutantOf(name) {
  const mutant = mutants.find((each) => each.name === name);
  if (mutant === undefined) throw new UserError(`There is no mutant "${name}" in test/mutants.`, { exitCode: 2 });
  return mutant;
}

async function tryMutant(mutant, { tree, store, seed, env }) {
  const path = join(tree, mutant.file);
  const before = readFileSync(path, 'utf8');
  patch(tree, mutant);
  await updateBuild(tree, mutant.file);
  const startedAt = Date.now();
  const verdict = await runRounds({ tree, store, seed, env, endAt: startedAt + LIMIT_MS });
  writeFileSync(path, before);
  await updateBuild(tree, mutant.file);
  const result = { name: mutant.name, store, isFound: verdict !== '', verdict: verdict || 'NOT FOUND' };
  print(`  ${result.name} (${store}): ${result.verdict}`);
  return { ...result, ms: Date.now() - startedAt };
}

/** Returns the checks that found something; empty if none did in time. */
async function runRounds({ tree, store, seed, env, endAt }) {
  const folder = join(tree, 'chaos-run');
  mkdirSync(folder, { recursive: true });
  await bundleProgram(join(tree, 'test/chaos/main.ts'), folder);
  const report = join(folder, 'report.md');
  for (let round = 0; Date.now() < endAt; round++) {
    rmSync(report, { force: true });
    const plan = { root: tree, store, seed: seed + round, ...ROUND, faults: null, report, keep: false, list: false };
    const left = String(Math.ceil((endAt - Date.now()) / 1_000));
    const program = [process.execPath, join(folder, 'main.mjs'), JSON.stringify(plan)];
    const { code, output } = await run('timeout', ['-k', '10', left, ...program], { env });
    const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
    const checks = checksIn(text);
    if (checks !== '') {
      for (const [, example] of text.matchAll(/^[a-z ]+:\n\n- (.*)$/gm)) print(`    ${example}`);
      return checks;
    }
    if (code !== 0) print(`    round ${round + 1} ended with ${code}: ${output.trimEnd().split('\n').at(-1)}`);
  }
  return '';
}

/** The rows of the checks table of a report (test/chaos/report.ts) that count a finding. */
function checksIn(report) {
  const [, table = ''] = /^### Checks\n\n([\s\S]*?)\n\n/m.exec(report) ?? [];
  const rows = [...table.matchAll(/^\| ([a-z ]+) \| (\d+) \|$/gm)];
  return rows.flatMap(([, name, count]) => (count === '0' ? [] : [`${name} (${count})`])).join(', ');
}
