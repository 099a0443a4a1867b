/**
 * The libraries for LD_PRELOAD of a chaos run, with a switch for each process: a disk that fails, and a step of its clock.
 * Without a compiler processes run without them.
 */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type DeadDisk, openDeadDisk } from '../support/open-dead-disk.ts';
import { compileLibrary, hasCompiler } from '../support/preload-library.ts';

export interface Preloads {
  /** The environment of a process. */
  env(name: string): Readonly<Record<string, string>>;
  disk(name: string): DeadDisk;
  /** Sets how far the clock of a process is off, in ms. */
  setClock(name: string, ms: number): void;
}

/** `root` is the directory whose files the failing disks have. */
export function openPreloads(folder: string, root: string): Preloads | null {
  if (!hasCompiler) return null;
  mkdirSync(folder, { recursive: true });
  const [diskLibrary, clockLibrary] = [compileLibrary('dead-disk', folder), compileLibrary('clock-step', folder)];
  const disks = new Map<string, DeadDisk>();
  const clockFile = (name: string): string => join(folder, name, 'clock');
  const open = (name: string): DeadDisk => {
    mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(clockFile(name), clockBytes(0));
    return openDeadDisk({ root, folder: join(folder, name), library: diskLibrary });
  };
  const disk = (name: string): DeadDisk => {
    const known = disks.get(name) ?? open(name);
    disks.set(name, known);
    return known;
  };
  return {
    disk,
    env: (name) => ({
      ...disk(name).env,
      LD_PRELOAD: `${diskLibrary} ${clockLibrary}`,
      CLOCK_STEP: clockFile(name),
    }),
    setClock: (name, ms) => {
      // Not truncated: processes have it mapped.
      const file = openSync(clockFile(name), 'r+');
      writeSync(file, clockBytes(ms), 0, 8, 0);
      closeSync(file);
    },
  };
}

function clockBytes(ms: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(ms));
  return bytes;
}
