/**
 * Checks that the package's own files are where its modules expect them. Threads, the shim, Lua and SQL are loaded by
 * path, and a bundler copies only modules.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LonghaulError } from '../core/ports/errors.ts';

/** Refuses to work from within a bundle, with the remedy. */
export function requireOwnFiles(): void {
  const missing = missingFile();
  if (missing === null) return;
  throw new LonghaulError(
    'bad-input',
    `longhaul cannot run inside a bundle: ${missing}. Leave it out of the bundle and install it beside the program: --external:longhaul (esbuild), external: ['longhaul'] (Rolldown, Rollup, webpack), ssr.external (Vite)`,
  );
}

function missingFile(): string | null {
  try {
    const path = fileURLToPath(new URL('../worker/lease/lease-renewer-thread.js', import.meta.url));
    return existsSync(path) ? null : `its file ${path} does not exist`;
  } catch {
    // A bundle of CommonJS modules has no import.meta.url.
    return 'the address of its modules is not known';
  }
}
