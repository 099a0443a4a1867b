/**
 * What /proc says of a process. A process that is gone is null and never an error; a zombie is there, but not alive.
 *
 * Invariant: liveness is read from the state in /proc/PID/stat. kill(pid, 0) says yes for a zombie that nobody reaps.
 */
import { closeSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import type { ProcessKey } from '../attempt/attempt-files.ts';

export interface ProcessStat extends ProcessKey {
  /** R, S, D, T (stopped), Z (zombie), … */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** 0 for none. */
  readonly terminal: number;
  /** Ticks, with those of children it waited for. */
  readonly cpuTicks: number;
  readonly rssPages: number;
}

const buffer = Buffer.allocUnsafe(4096);

/** The line of /proc/PID/stat. The name in brackets may hold anything, also brackets and spaces. */
export function parseStat(line: string): ProcessStat | null {
  const end = line.lastIndexOf(')');
  if (end < 0) return null;
  const fields = line.slice(end + 2).split(' ');
  const number = (index: number) => Number(fields[index]);
  return {
    pid: Number.parseInt(line, 10),
    state: fields[0] ?? '',
    parent: number(1),
    group: number(2),
    session: number(3),
    terminal: number(4),
    cpuTicks: number(11) + number(12) + number(13) + number(14),
    start: number(19),
    rssPages: number(21),
  };
}

export function readStat(pid: number | string): ProcessStat | null {
  const text = readProc(`/proc/${pid}/stat`);
  return text === null ? null : parseStat(text);
}

/** As `readStat`, but a zombie is told by its first letters, and no more of it is read: there may be thousands. */
export function readLiving(pid: number): ProcessStat | 'zombie' | null {
  const text = readProc(`/proc/${pid}/stat`);
  if (text === null) return null;
  const state = text.charAt(text.lastIndexOf(')') + 2);
  return state === 'Z' || state === 'X' ? 'zombie' : parseStat(text);
}

export const isLiving = ({ state }: ProcessStat): boolean => state !== 'Z' && state !== 'X' && state !== 'x';

/** That very process is there and no zombie. */
export function isAlive(key: ProcessKey): boolean {
  const stat = readLiving(key.pid);
  return stat !== null && stat !== 'zombie' && stat.start === key.start;
}

/** Whether a number is that of a thread within a process: those are not listed, but answer to their number. */
export function isThread(pid: number): boolean {
  const leader = /^Tgid:\s*(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1];
  return leader !== undefined && Number(leader) !== pid;
}

/** The last number that the kernel gave to a process; 0 when it does not say. Whatever was born since has a later one. */
export function lastPid(): number {
  return Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1) ?? 0);
}

/** The first 4 KiB of a file in /proc; null when the process is gone or may not be read. */
export function readProc(path: string): string | null {
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}

let boot: string | undefined;

/**
 * Where pids mean what they mean here: this boot of the machine and this pid namespace. A container that is started
 * anew is another boot, since its pids name other processes.
 */
export function bootIdentity(): string {
  boot ??= `${readProc('/proc/sys/kernel/random/boot_id')?.trim()}/${readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')}`;
  return boot;
}

export interface Units {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

const AT_PAGESZ = 6n;
const AT_CLKTCK = 17n;

/** What the kernel counts memory and time in: it tells every program so at its start. */
export function readUnits(): Units {
  const words = readFileSync('/proc/self/auxv');
  const valueOf = (name: bigint, otherwise: number) => {
    for (let at = 0; at + 16 <= words.length; at += 16) {
      if (words.readBigUInt64LE(at) === name) return Number(words.readBigUInt64LE(at + 8));
    }
    return otherwise;
  };
  return { pageBytes: valueOf(AT_PAGESZ, 4096), ticksPerSecond: valueOf(AT_CLKTCK, 100) };
}
