/**
 * A control group for each attempt, where one can be had: nothing can leave it, and all of it can be killed at once.
 *
 * It is an addition. Without the right to make one, or on a kernel that cannot kill one, everything works by the other
 * means alone. The script enters it before its first instruction. The shim is not in it: it has the exit status to write.
 *
 * Invariant: a group serves one attempt. The record of an attempt that is over never names the group of another one.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdir, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessKey } from '../attempt/attempt-files.ts';
import { isAlive, readStat } from './process-stat.ts';

export interface Cgroups {
  /** A group for a new attempt; null when it could not be made. */
  make(): string | null;
  /** Removes one in which no process is left, soon. */
  release(path: string): void;
  /** The one that an attempt was started in, by its name; null when it is there no more. */
  find(name: string): string | null;
  /** Removes those of this process that are not in use. */
  close(): void;
}

/** Null where there are none to be had. */
export function openCgroups(): Cgroups | null {
  const base = findBase();
  if (base === null) return null;
  removeUnused(base, (maker) => !isAlive(maker));
  return {
    make: () => makeIn(base),
    // Not in the main thread: the kernel takes its time.
    release: (path) => rmdir(path, () => undefined),
    find: (name) => (existsSync(join(base, name)) ? join(base, name) : null),
    close: () => removeUnused(base, ({ pid }) => pid === process.pid),
  };
}

let made = 0;

/** Named after its maker, by pid and start time: another runner leaves it alone while its maker lives. */
function makeIn(base: string): string | null {
  made += 1;
  const path = join(base, `${process.pid}-${readStat('self')?.start ?? 0}-${made}`);
  return tryTo(() => {
    mkdirSync(path);
    return path;
  });
}

/** Below our own group, since that is the part of the tree that may have been given to us. */
function findBase(): string | null {
  const own = ownCgroup();
  // The path is read by a shell; the kill came with Linux 5.14, and only groups below the first have it.
  if (own === null || !/^[\w./:@-]+$/.test(own) || !existsSync(join(own, 'cgroup.procs'))) return null;
  const base = join(own, 'longhaul');
  tryTo(() => mkdirSync(base));
  return existsSync(join(base, 'cgroup.kill')) ? base : null;
}

function ownCgroup(): string | null {
  return tryTo(() => {
    const mount = /^(?:\S+ ){4}(\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
    const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    return mount === undefined || own === undefined ? null : join(mount, own);
  });
}

/** Of the makers that are meant. One that is in use cannot be removed. */
function removeUnused(base: string, isMeant: (maker: ProcessKey) => boolean): void {
  for (const name of readdirSync(base)) {
    const maker = /^(\d+)-(\d+)-\d+$/.exec(name);
    if (maker === null || !isMeant({ pid: Number(maker[1]), start: Number(maker[2]) })) continue;
    tryTo(() => rmdirSync(join(base, name)));
  }
}

export function killCgroup(path: string): void {
  tryTo(() => writeFileSync(join(path, 'cgroup.kill'), '1'));
}

export function processesIn(path: string): number[] {
  const text = tryTo(() => readFileSync(join(path, 'cgroup.procs'), 'latin1')) ?? '';
  return text.split('\n').filter(Boolean).map(Number);
}

/** Missing, busy or forbidden: then there is no such group. */
function tryTo<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}
