/**
 * Builds dist/ from src/, and dist/web from web/. Does nothing when nothing changed since the last build.
 *
 * The compiler writes into a folder of its own; then only the files that differ are moved into dist/, each in one
 * step, and files whose source is gone are removed. So a test that runs meanwhile never loads half a file.
 * Two builds at once are made to wait for each other.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildWeb } from './build-web.mjs';
import { bundleEntries } from './bundle-entries.mjs';
import { copyAssets } from './copy-assets.mjs';
import { filesUnder, fingerprintOf } from './fingerprint.mjs';
import { bin, cacheFolder, main, root, run, say, seconds, Trouble } from './script-support.mjs';

const source = join(root, 'src');
const target = join(root, 'dist');
const stamp = join(target, '.stamp');
const next = join(cacheFolder, 'dist-next');
const lock = join(cacheFolder, 'build.lock');
const lockWaitMs = 120_000;

/**
 * Brings dist/ up to date; answers { built, errors }. Type errors do not keep the JavaScript from being written
 * (somebody may be in the middle of another part), but they are answered, and the next build tries again.
 */
export async function build({ force = false } = {}) {
  if (!existsSync(source)) throw new Trouble('There is no src/ folder, so there is nothing to build.', { exitCode: 2 });
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
  const print = fingerprint();
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  const { code, output } = await run(bin('tsc'), ['-p', 'tsconfig.build.json', '--outDir', next]);
  copyAssets(source, next);
  await bundleEntries(source, next);
  const made = filesUnder(next);
  replaceDifferingFiles(made);
  removeStaleFiles(new Set(made));
  rmSync(next, { recursive: true, force: true });
  if (code === 0) writeFileSync(stamp, print);
  else rmSync(stamp, { force: true });
  return code === 0 ? '' : output || `The compiler ended with exit code ${code}.`;
}

const isFresh = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint();

const fingerprint = () =>
  fingerprintOf([
    'src',
    'tsconfig.json',
    'scripts/bundle-entries.mjs',
    'tsconfig.build.json',
    'node_modules/typescript/package.json',
  ]);

/** New ones first: a file that is replaced may name them. */
function replaceDifferingFiles(made) {
  const isNew = (name) => !existsSync(join(target, name));
  for (const name of [...made].sort((a, b) => isNew(b) - isNew(a))) {
    const [fresh, old] = [join(next, name), join(target, name)];
    if (existsSync(old) && readFileSync(old).equals(readFileSync(fresh))) continue;
    mkdirSync(dirname(old), { recursive: true });
    renameSync(fresh, old);
  }
}

/** What this build did not make is left over from an earlier one. */
function removeStaleFiles(made) {
  for (const name of filesUnder(target)) {
    if (name === '.stamp' || name.startsWith('web/') || made.has(name)) continue;
    rmSync(join(target, name), { force: true });
  }
}

/** One build at a time. A lock whose process is gone is taken over. */
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
  throw new Trouble(`Another build has held ${lock} for two minutes. If none is running, remove that file.`);
}

function isHeld() {
  try {
    const pid = Number(readFileSync(lock, 'utf8'));
    // Between its creation and its first byte the file is empty: the holder is alive, a moment ago.
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
  if (errors) throw new Trouble('The build has type errors (above).', { output: errors });
  say(built ? `Built dist/ in ${seconds(Date.now() - startedAt)}.` : 'dist/ is up to date.');
});
