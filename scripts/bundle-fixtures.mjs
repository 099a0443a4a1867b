/**
 * Bundles the large programs of test/fixtures/ into one file each. The tests start hundreds of them, and loading the files
 * of dist/ and of the Redis client took most of the time of such a process.
 *
 * The code is that of dist/, unchanged. The directory name contains a fingerprint of the inputs, so that two concurrent
 * runs never see a partial bundle.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fingerprintOf } from './fingerprint.mjs';
import { cacheFolder, main, print, root } from './script-support.mjs';

const programs = ['worker', 'ledger-worker', 'producer', 'files-node', 'guard-server', 'runner-parent', 'blobs-step'];
const prefix = 'fixtures-';
/** Bundles older than this are removed. */
const keptMs = 24 * 3_600_000;

/** Returns the directory with the programs. */
export async function bundleFixtures() {
  const folder = join(
    cacheFolder,
    prefix + fingerprintOf(['dist', 'test/fixtures', 'scripts/bundle-fixtures.mjs']).slice(0, 16),
  );
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return folder;
  removeOld();
  mkdirSync(cacheFolder, { recursive: true });
  const draft = mkdtempSync(join(cacheFolder, 'fixtures.'));
  for (const name of programs) await bundleProgram(join(root, 'test', 'fixtures', `${name}.mjs`), draft);
  try {
    renameSync(draft, folder);
  } catch (error) {
    // A concurrent run created the same directory first.
    rmSync(draft, { recursive: true, force: true });
    if (!['EEXIST', 'ENOTEMPTY'].includes(error.code)) throw error;
  }
  return folder;
}

/** Bundles a program, in JavaScript or TypeScript, into a directory. */
export async function bundleProgram(input, folder) {
  // Imported dynamically, because scripts are loaded before packages are installed.
  const { rolldown } = await import('rolldown');
  const options = { platform: 'node', external: ['@photostructure/sqlite', 'pino'], logLevel: 'silent' };
  const bundle = await rolldown({ ...options, input, plugins: [keepModuleUrls()] });
  const name = basename(input, extname(input));
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: `${name}-[name]-[hash].mjs`,
  });
  await bundle.close();
}

/** Rewrites import.meta.url and import.meta.dirname, so that a module finds the files beside its original file. */
function keepModuleUrls() {
  return {
    name: 'longhaul:keep-module-urls',
    transform(code, id) {
      if (!/import\.meta\.(url|dirname)/.test(code)) return null;
      const withUrl = code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href));
      return { code: withUrl.replaceAll('import.meta.dirname', JSON.stringify(dirname(id))), map: null };
    },
  };
}

function removeOld() {
  for (const name of readdirSync(cacheFolder).filter((each) => /^(fixtures[-.]|chaos\.)/.test(each))) {
    const path = join(cacheFolder, name);
    if (Date.now() - statSync(path).mtimeMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}

await main(import.meta.url, async () => print(await bundleFixtures()));
