/** A copy of the tree in which mutants are applied: shared by the test suites and by chaos runs that must catch them. */
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
import { transformSync } from 'rolldown/utils';
import { bundleEntries } from '../bundle-entries.mjs';
import { root, run, UserError } from '../script-support.mjs';

const notCopied = new Set(['.git', 'node_modules', 'build', 'coverage', 'docs', 'bench']);

export async function inTemporaryDirectory(work) {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-mutants-'));
  try {
    return await work(folder);
  } finally {
    remove(folder);
  }
}

/** Tries again where a process of a suite that was stopped still writes into the folder. */
function remove(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}

/** Copies everything that the suites need; packages are linked, without their caches. */
export function copyTree(from, tree) {
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

/** Throws if the text to replace does not occur exactly once: that is an error in the list, not a caught mutant. */
export function patch(tree, { name, file, find, replace, and }, { isTrial = false } = {}) {
  const path = join(tree, file);
  if (!existsSync(path)) throw new UserError(`Mutant "${name}": there is no ${file}.`, { exitCode: 2 });
  const text = readFileSync(path, 'utf8');
  const times = text.split(find).length - 1;
  if (times !== 1) {
    throw new UserError(`Mutant "${name}": its text must occur once in ${file}, but occurs ${times} times:\n${find}`, {
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

/** Updates dist/ after a change of one file. A build of all files would take longer than most suites. */
export async function updateBuild(tree, file) {
  const [source, target] = [join(tree, 'src'), join(tree, 'dist')];
  if (!file.startsWith('src/')) return void (await run(process.execPath, ['scripts/build.mjs'], { cwd: tree }));
  const built = join(target, file.slice('src/'.length));
  if (!file.endsWith('.ts')) return cpSync(join(tree, file), built);
  const path = join(tree, file);
  const { code } = transformSync(path, readFileSync(path, 'utf8'));
  const name = built.replace(/\.ts$/, '.js');
  // Of the command line, dist/ has only bundles.
  if (existsSync(name))
    writeFileSync(name, code.replaceAll(/((?:from|import) ?\(?["']\.[^"']*)\.ts(["'])/g, '$1.js$2'));
  await bundleEntries(source, target);
}
