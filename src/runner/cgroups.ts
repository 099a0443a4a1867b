/**
 * A control group for each attempt, where one can be had: nothing can leave it, and all of it can be killed at once.
 *
 * It is an addition. Without the right to make one, or on a kernel that cannot kill one, everything works by the other
 * means alone. The shim is in it, once for all its attempts: what it starts is in it by birth, and moving every script
 * would cost a third of what a script does. Before the rest is killed the shim is taken out, since it has the exit
 * status to write.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive, readStat } from './process-stat.ts';

export interface Cgroups {
  /** One that no attempt is in; null when it could not be made. */
  take(): string | null;
  /** Gives one back in which nobody is left but its shim. It is used again: making one costs more than a script does. */
  release(path: string): void;
  /** The one that an attempt was started in, by its name; null when it is there no more. */
  find(name: string): string | null;
  /** Removes those that are not in use. */
  close(): void;
}

const MOST_SPARE = 64;

/** Null where there are none to be had. */
export function openCgroups(): Cgroups | null {
  const base = findBase();
  if (base === null) return null;
  removeOrphans(base);
  const spare: string[] = [];
  return {
    take() {
      const path = spare.pop();
      return path !== undefined && existsSync(path) ? path : makeIn(base);
    },
    release(path) {
      spare.push(path);
      // The oldest: its shim has most likely ended. As long as it has not, the group stays, and is used again.
      if (spare.length > MOST_SPARE && removeCgroup(spare[0] ?? path)) spare.shift();
    },
    find: (name) => (existsSync(join(base, name)) ? join(base, name) : null),
    close() {
      for (const path of spare.splice(0)) {
        takeOut(path, () => true);
        removeCgroup(path);
      }
    },
  };
}

let made = 0;

/**
 * Named after who made it, by pid and start time: another runner leaves it alone while its maker lives, and a record of
 * an attempt that is over never names the group of another one.
 */
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

/** What a runner that is gone left behind. One that is in use cannot be removed. */
function removeOrphans(base: string): void {
  for (const name of readdirSync(base)) {
    const maker = /^(\d+)-(\d+)-\d+$/.exec(name);
    if (maker !== null && !isAlive({ pid: Number(maker[1]), start: Number(maker[2]) })) removeCgroup(join(base, name));
  }
}

/** False while somebody is in it. */
function removeCgroup(path: string): boolean {
  return (
    tryTo(() => {
      rmdirSync(path);
      return true;
    }) === true
  );
}

/** All of it but those that are spared. Nobody, when one of those cannot be taken out. */
export function killCgroup(path: string, isSpared: (pid: number) => boolean): void {
  if (takeOut(path, isSpared)) tryTo(() => writeFileSync(join(path, 'cgroup.kill'), '1'));
}

/** Moves processes into the group above. False when one of them is still there. */
function takeOut(path: string, isMeant: (pid: number) => boolean): boolean {
  for (const pid of processesIn(path).filter(isMeant))
    tryTo(() => writeFileSync(join(dirname(path), 'cgroup.procs'), `${pid}`));
  return !processesIn(path).some(isMeant);
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
