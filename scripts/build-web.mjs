/**
 * Builds the web UI from web/ into dist/web. Does nothing if nothing changed since the last build.
 *
 * Vite writes to a temporary directory that then replaces the old one, so that a running node never serves a partial build.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fingerprintOf } from './fingerprint.mjs';
import { bin, cacheFolder, root, run, UserError } from './script-support.mjs';

const source = join(root, 'web');
const target = join(root, 'dist', 'web');
const stamp = join(cacheFolder, 'web.stamp');
const next = join(cacheFolder, 'web-next');
/** Its own files, the code that it shares with the node, and the versions of the build tools. */
const inputs = ['web', 'src/core', 'src/wire', 'package-lock.json'];

/** Returns whether it built anything. */
export async function buildWeb() {
  if (!existsSync(source)) return false;
  const fingerprint = fingerprintOf(inputs);
  if (existsSync(join(target, 'index.html')) && existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint)
    return false;
  rmSync(next, { recursive: true, force: true });
  const args = ['build', '--config', join(source, 'vite.config.ts'), '--outDir', next, '--logLevel', 'warn'];
  // Tests build too, and their NODE_ENV would make it half as large again.
  const { code, output } = await run(bin('vite'), args, { env: { NODE_ENV: 'production' } });
  if (code !== 0) throw new UserError('The build of the web UI failed (see above).', { output });
  mkdirSync(dirname(target), { recursive: true });
  rmSync(target, { recursive: true, force: true });
  renameSync(next, target);
  writeFileSync(stamp, fingerprint);
  return true;
}
