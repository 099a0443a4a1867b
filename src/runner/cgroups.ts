/**
 * A control group for each attempt, where one can be had: nothing can leave it, and all of it can be killed at once.
 *
 * It is an addition. Without the right to make one, or on a kernel that cannot kill one, everything works by the other
 * means alone. Only the script goes into it; the shim stays outside, since it has the exit status to write.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Cgroups {
  /** Null when it could not be made. */
  make(attempt: string): string | null;
  /** The one that an attempt was started in; null when it has none, or none any more. */
  find(attempt: string): string | null;
}

const NEW_FOR_MS = 60_000;

/** Null where there are none to be had. */
export function openCgroups(): Cgroups | null {
  const base = findBase();
  if (base === null) return null;
  removeEmpty(base);
  const pathOf = (attempt: string) => join(base, createHash('sha256').update(attempt).digest('hex').slice(0, 24));
  return {
    make: (attempt) =>
      tryTo(() => {
        mkdirSync(pathOf(attempt));
        return pathOf(attempt);
      }),
    find: (attempt) => (existsSync(pathOf(attempt)) ? pathOf(attempt) : null),
  };
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

/** What a runner that was killed left behind. One that is in use cannot be removed; a new one is about to be used. */
function removeEmpty(base: string): void {
  for (const each of readdirSync(base, { withFileTypes: true })) {
    const path = join(base, each.name);
    const madeAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (each.isDirectory() && Date.now() - madeAt > NEW_FOR_MS) removeCgroup(path);
  }
}

export function removeCgroup(path: string): void {
  tryTo(() => rmdirSync(path));
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
