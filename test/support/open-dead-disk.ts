/**
 * A disk that fails on demand, for processes with a library of test/fixtures/dead-disk.c in LD_PRELOAD. It must not import
 * vitest, because the chaos harness runs without it.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileLibrary } from './preload-library.ts';

/** `r` reads, `w` writes, `s` syncs, `n` names: open, unlink, rename. */
export type Failing = 'r' | 'w' | 's' | 'rws' | 'rwsn';

export interface DeadDisk {
  /** The environment of processes that use this disk. */
  readonly env: Readonly<Record<string, string>>;
  /** Fails every n-th of these calls; by default all. */
  fail(calls: Failing, everyNth?: number): void;
  /** Fails only the n-th of these calls. */
  failOnce(calls: Failing, nth: number): void;
  /** Whether the call of `failOnce` has failed. */
  hasHit(): boolean;
  heal(): void;
}

export interface DeadDiskOptions {
  /** The disk is everything below this directory, and works until `fail` is called. */
  readonly root: string;
  /** Where the library and the switch of the disk are. */
  readonly folder: string;
  /** A compiled library. Default: it is compiled into the folder. */
  readonly library?: string;
}

export function openDeadDisk({
  root,
  folder,
  library = compileLibrary('dead-disk', folder),
}: DeadDiskOptions): DeadDisk {
  const file = join(folder, 'switch');
  return {
    env: { LD_PRELOAD: library, DEAD_DISK_ROOT: root, DEAD_DISK_SWITCH: file },
    fail: (calls, everyNth = 1) => writeFileSync(file, `${calls}/${everyNth}`),
    failOnce: (calls, nth) => writeFileSync(file, `${calls}@${nth}`),
    hasHit: () => existsSync(`${file}.hit`),
    heal: () => rmSync(file, { force: true }),
  };
}
