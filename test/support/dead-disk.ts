/**
 * A disk that fails on demand, for processes that a test starts: see test/fixtures/dead-disk.c. Needs a C compiler, no
 * privileges.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** `r` reads, `w` writes, `s` syncs, `n` names: open, unlink, rename. */
export type Failing = 'r' | 'w' | 's' | 'rwsn';

export interface DeadDisk {
  /** The environment of processes that use this disk. */
  readonly env: Readonly<Record<string, string>>;
  fail(calls: Failing): void;
  heal(): void;
}

/** Without a compiler the tests are skipped and report it. */
export const hasCompiler = process.platform === 'linux' && spawnSync('sh', ['-c', 'cc --version']).status === 0;
if (!hasCompiler) process.stdout.write('not run: a disk that fails on demand needs Linux and a C compiler (cc)\n');

/** The disk is everything below this directory, and works until `fail` is called. */
export function aDeadDisk(root: string): DeadDisk {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-disk-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const library = join(folder, 'dead-disk.so');
  const source = join(import.meta.dirname, '../fixtures/dead-disk.c');
  const built = spawnSync('sh', ['-c', 'cc -shared -fPIC -O1 -o "$0" "$1" -ldl', library, source], {
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`dead-disk.c cannot be compiled: ${built.stderr}`);
  const file = join(folder, 'switch');
  return {
    env: { LD_PRELOAD: library, DEAD_DISK_ROOT: root, DEAD_DISK_SWITCH: file },
    fail: (calls) => writeFileSync(file, calls),
    heal: () => rmSync(file),
  };
}
