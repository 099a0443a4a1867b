/**
 * Makes one file of each program in test/fixtures/ that loads much: the proofs start hundreds of them, and to find,
 * read and link the files of dist/ and of the Redis client cost most of what such a process costs in all.
 *
 * The code is that of dist/, unchanged. What is made stands under a name that says what it was made of, so two runs at
 * once never meet half of it.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fingerprintOf } from './fingerprint.mjs';
import { cacheFolder, main, root, say } from './script-support.mjs';

const programs = ['worker', 'ledger-worker', 'producer', 'files-node', 'guard-server', 'runner-parent', 'blobs-step'];
const made = 'fixtures-';
/** Whoever runs tests for longer than this from what was made before has to make it again. */
const keptMs = 24 * 3_600_000;

/** Answers the folder with the programs. */
export async function bundleFixtures() {
  const folder = join(
    cacheFolder,
    made + fingerprintOf(['dist', 'test/fixtures', 'scripts/bundle-fixtures.mjs']).slice(0, 16),
  );
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return folder;
  removeOld();
  mkdirSync(cacheFolder, { recursive: true });
  const draft = mkdtempSync(join(cacheFolder, 'fixtures.'));
  for (const name of programs) await bundleProgram(join(root, 'test', 'fixtures', `${name}.mjs`), draft);
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another run was quicker, with the same.
    rmSync(draft, { recursive: true, force: true });
    if (!['EEXIST', 'ENOTEMPTY'].includes(error.code)) throw error;
  }
  return folder;
}

async function bundleProgram(input, folder) {
  // Loaded when it is needed, as all packages are by scripts.
  const { rolldown } = await import('rolldown');
  const options = { platform: 'node', external: ['@photostructure/sqlite', 'pino'], logLevel: 'silent' };
  const bundle = await rolldown({ ...options, input, plugins: [fromTheirOwnPlaces()] });
  const name = basename(input, '.mjs');
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: `${name}-[name]-[hash].mjs`,
  });
  await bundle.close();
}

/** A file that a module finds beside itself is looked for where that module was before. */
function fromTheirOwnPlaces() {
  return {
    name: 'longhaul:from-their-own-places',
    transform(code, id) {
      if (!code.includes('import.meta.url')) return null;
      return { code: code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href)), map: null };
    },
  };
}

function removeOld() {
  for (const name of readdirSync(cacheFolder).filter((each) => /^fixtures[-.]/.test(each))) {
    const path = join(cacheFolder, name);
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}

await main(import.meta.url, async () => say(await bundleFixtures()));
