/**
 * A control group for each attempt, where the system allows it: no process can leave it, and the kernel kills all of it
 * at once.
 *
 * It is an addition. Without permission, or on a kernel that cannot kill a group, the other means do all the work. The
 * script enters the group before its first instruction. The shim stays outside, because it must write the exit status.
 *
 * Invariant: a group serves one attempt. The record of an ended attempt never names the group of another one.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdir, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { OverMemory } from '../attempt/attempt.ts';
import type { ProcessKey } from '../attempt/attempt-files.ts';
import { isAlive, readStat } from './process-stat.ts';

export interface Cgroups {
  /** Creates a group for a new attempt, with a memory limit if the system allows one; returns null on failure. */
  make(maxMemoryBytes: number | null): string | null;
  /** Removes an empty group, asynchronously. */
  release(path: string): void;
  /** Finds the group of an attempt by name; null when it no longer exists. */
  find(name: string): string | null;
  /** Removes the unused groups of this process. */
  close(): void;
}

/** Returns null where control groups are not available. */
export function openCgroups(): Cgroups | null {
  const base = findBase();
  if (base === null) return null;
  removeUnused(base, (creator) => !isAlive(creator));
  // Named after the pid and start time of its creator: other runners leave it alone while the creator lives.
  const prefix = join(base, `${process.pid}-${readStat('self')?.start ?? 0}`);
  return {
    make: (maxMemoryBytes) => makeGroup(`${prefix}-${++made}`, maxMemoryBytes),
    // Asynchronous, because the kernel takes its time.
    release: (path) => rmdir(path, () => undefined),
    find: (name) => (existsSync(join(base, name)) ? join(base, name) : null),
    close: () => removeUnused(base, ({ pid }) => pid === process.pid),
  };
}

/** Counts the groups of all runners of this process. */
let made = 0;

function makeGroup(path: string, maxMemoryBytes: number | null): string | null {
  return tryTo(() => {
    mkdirSync(path);
    if (maxMemoryBytes !== null) limitMemory(path, maxMemoryBytes);
    return path;
  });
}

/**
 * Groups are created below our own group, or below the unit that systemd delegated to us if we are in a subgroup of it
 * (`DelegateSubgroup=`). Only there can memory be limited: the kernel allows it in no group that has processes itself.
 */
function findBase(): string | null {
  const own = ownCgroup();
  // A shell reads the path. cgroup.kill came with Linux 5.14, and the root group has none.
  if (own === null || !/^[\w./:@-]+$/.test(own) || !existsSync(join(own, 'cgroup.procs'))) return null;
  const root = delegatedUnit(own) ?? own;
  const base = join(root, 'longhaul');
  tryTo(() => mkdirSync(base));
  for (const group of [root, base]) tryTo(() => writeFileSync(join(group, 'cgroup.subtree_control'), '+memory'));
  return existsSync(join(base, 'cgroup.kill')) ? base : null;
}

/** Returns the service or scope that contains a subgroup of it; null for a group that is one itself, or is in none. */
export function delegatedUnit(own: string): string | null {
  for (let group = own; basename(group) !== ''; group = dirname(group)) {
    const [, kind] = /\.(service|scope|slice)$/.exec(basename(group)) ?? [];
    if (kind !== undefined) return kind === 'slice' || group === own ? null : group;
  }
  return null;
}

/** The whole group dies together: a script without one of its processes is of no use. */
export function limitMemory(path: string, maxBytes: number): void {
  if (tryTo(() => writeFileSync(join(path, 'memory.max'), `${maxBytes}`, { flag: 'r+' })) === null) return;
  tryTo(() => writeFileSync(join(path, 'memory.swap.max'), '0', { flag: 'r+' }));
  tryTo(() => writeFileSync(join(path, 'memory.oom.group'), '1', { flag: 'r+' }));
}

/** Returns the memory limit of a group; null when it has none. */
export function groupMemoryLimit(path: string | null): number | null {
  const limit = path === null ? '' : (read(path, 'memory.max') ?? '');
  return /^\d+\n?$/.test(limit) ? Number(limit) : null;
}

/** Returns the memory of a group in which the kernel killed a process because of its limit; null when it did not. */
export function groupOverMemory(path: string | null): OverMemory | null {
  const limitBytes = groupMemoryLimit(path);
  if (path === null || limitBytes === null) return null;
  const kills = Number(/^oom_kill (\d+)$/m.exec(read(path, 'memory.events') ?? '')?.[1] ?? 0);
  return kills === 0 ? null : { usedBytes: Number(read(path, 'memory.peak') ?? limitBytes), limitBytes };
}

const read = (path: string, file: string): string | null => tryTo(() => readFileSync(join(path, file), 'latin1'));

function ownCgroup(): string | null {
  return tryTo(() => {
    const mount = /^(?:\S+ ){4}(\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'utf8'))?.[1];
    const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    return mount === undefined || own === undefined ? null : join(mount, own);
  });
}

/** Removes groups of matching creators. The kernel refuses to remove a group in use. */
function removeUnused(base: string, matches: (creator: ProcessKey) => boolean): void {
  for (const name of readdirSync(base)) {
    const creator = /^(\d+)-(\d+)-\d+$/.exec(name);
    if (creator === null || !matches({ pid: Number(creator[1]), start: Number(creator[2]) })) continue;
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

/** Returns null for a group that is missing, busy or forbidden. */
function tryTo<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}
