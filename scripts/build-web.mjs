/**
 * Builds the web page from web/ into dist/web. Does nothing when nothing changed since the last build.
 *
 * Vite writes into a folder of its own, which then takes the old one's place, so that a node that serves it meanwhile
 * never has half a page.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from './fingerprint.mjs';
import { bin, cacheFolder, root, run, Trouble } from './script-support.mjs';

const source = join(root, 'web');
const target = join(root, 'dist', 'web');
const stamp = join(cacheFolder, 'web.stamp');
const next = join(cacheFolder, 'web-next');
/** Besides its own files: what it shares with the node, and what it is built with. */
const inputs = ['web', 'src/core', 'src/wire', 'package-lock.json'];

/** Answers whether there was anything to build. */
export async function buildWeb() {
  if (!existsSync(source)) return false;
  const print = fingerprintOf(inputs);
  if (existsSync(join(target, 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === print)
    return false;
  rmSync(next, { recursive: true, force: true });
  const args = ['build', '--config', join(source, 'vite.config.ts'), '--outDir', next, '--logLevel', 'warn'];
  const { code, output } = await run(bin('vite'), args);
  if (code !== 0) throw new Trouble('The web page could not be built (above).', { output });
  mkdirSync(dirname(target), { recursive: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(next, target);
  writeFileSync(stamp, print);
  return true;
}
