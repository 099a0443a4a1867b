/**
 * A disk that fails on demand, for processes that a test starts: see test/fixtures/dead-disk.c. Needs a C compiler, no
 * privileges.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type DeadDisk, openDeadDisk } from './open-dead-disk.ts';
import { hasCompiler } from './preload-library.ts';

export type { DeadDisk, Failing } from './open-dead-disk.ts';
export { hasCompiler } from './preload-library.ts';

/** Without a compiler the tests are skipped and report it. */
if (!hasCompiler) process.stdout.write('not run: a disk that fails on demand needs Linux and a C compiler (cc)\n');

/** The disk is everything below this directory, and works until `fail` is called. */
export function aDeadDisk(root: string): DeadDisk {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return openDeadDisk({ root, folder });
}
