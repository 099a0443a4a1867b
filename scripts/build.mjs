/**
 * Builds dist/ from src/, and dist/web from web/. Does nothing if nothing changed since the last build.
 *
 * The compiler writes to a temporary directory. Then each changed file is renamed into dist/, and files without a source
 * are removed, so that a running test never loads a partial file. A lock serializes concurrent builds.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildWeb } from './build-web.mjs';
import { bundleEntries } from './bundle-entries.mjs';
import { copyAssets } from './copy-assets.mjs';
import { filesUnder, fingerprintOf } from './fingerprint.mjs';
import { pruneDeclarations } from './prune-declarations.mjs';
import { bin, cacheFolder, main, print, root, run, seconds, UserError } from './script-support.mjs';

const source = join(root, 'src');
const target = join(root, 'dist');
const stamp = join(target, '.stamp');
const next = join(cacheFolder, 'dist-next');
const lock = join(cacheFolder, 'build.lock');
const lockWaitMs = 120_000;

/**
 * Updates dist/ and returns { built, errors }. JavaScript is written despite type errors, which may be in a part under
 * development. The errors are returned, and the next build compiles again.
 */
export async function build({ force = false } = {}) {
  if (!existsSync(source)) throw new UserError('There is no src/ directory: nothing to build.', { exitCode: 2 });
  const release = await takeLock();
  try {
    const isWebNew = await buildWeb();
    if (!force && isFresh()) return { built: isWebNew, errors: '' };
    return { built: true, errors: await compile() };
  } finally {
    release();
  }
}

async function compile() {
  const current = fingerprint();
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  const { code, output } = await run(bin('tsc'), ['-p', 'tsconfig.build.json', '--outDir', next]);
  copyAssets(source, next);
  await bundleEntries(source, next);
  if (code === 0) pruneDeclarations(next);
  const made = filesUnder(next);
  replaceDifferingFiles(made);
  removeStaleFiles(new Set(made));
  rmSync(next, { recursive: true, force: true });
  if (code === 0) writeFileSync(stamp, current);
  else rmSync(stamp, { force: true });
  return code === 0 ? '' : output || `The compiler exited with code ${code}.`;
}

const isFresh = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();

const fingerprint = () =>
  fingerprintOf([
    'src',
    'tsconfig.json',
    'scripts/bundle-entries.mjs',
    'scripts/prune-declarations.mjs',
    'package.json',
    'tsconfig.build.json',
    'node_modules/typescript/package.json',
  ]);

/** Moves new files first, because a replaced file may import them. */
function replaceDifferingFiles(made) {
  const isNew = (name) => !existsSync(join(target, name));
  for (const name of [...made].sort((a, b) => isNew(b) - isNew(a))) {
    const [fresh, old] = [join(next, name), join(target, name)];
    if (existsSync(old) && readFileSync(old).equals(readFileSync(fresh))) continue;
    mkdirSync(dirname(old), { recursive: true });
    renameSync(fresh, old);
  }
}

/** Removes the files of earlier builds that this build did not write. */
function removeStaleFiles(made) {
  for (const name of filesUnder(target)) {
    if (name === '.stamp' || name.startsWith('web/') || made.has(name)) continue;
    rmSync(join(target, name), { force: true });
  }
}

/** Serializes builds. A lock of an ended process is taken over. */
async function takeLock() {
  mkdirSync(cacheFolder, { recursive: true });
  for (const end = Date.now() + lockWaitMs; Date.now() < end; await sleep(50)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return () => rmSync(lock, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!isHeld()) rmSync(lock, { force: true });
    }
  }
  throw new UserError(`Another build has held ${lock} for two minutes. If no build is running, remove that file.`);
}

function isHeld() {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    // The file is empty between its creation and its first byte: then a new lock is held.
    if (pid === 0) return Date.now() - statSync(lock).mtimeMs < 1_000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

await main(import.meta.url, async (args) => {
  const startedAt = Date.now();
  const { built, errors } = await build({ force: args.includes('--force') });
  if (errors) throw new UserError('The build has type errors (see above).', { output: errors });
  print(built ? `Built dist/ in ${seconds(Date.now() - startedAt)}.` : 'dist/ is up to date.');
});
