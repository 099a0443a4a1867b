/**
 * Reads /proc. A process that is gone is null and never an error; a zombie exists, but is not alive.
 *
 * Invariant: liveness is read from the state in /proc/PID/stat, because kill(pid, 0) succeeds for a zombie that is not
 * reaped.
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
  /** Clock ticks, including children that it waited for. */
  readonly cpuTicks: number;
  readonly rssPages: number;
}

const buffer = Buffer.allocUnsafe(4096);

/** Parses a line of /proc/PID/stat. The name in parentheses may contain anything, including parentheses and spaces. */
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

/** Like `readStat`, but detects a zombie by the state alone, without parsing: there may be thousands. */
export function readLiving(pid: number): ProcessStat | 'zombie' | null {
  const text = readProc(`/proc/${pid}/stat`);
  if (text === null) return null;
  const state = text.charAt(text.lastIndexOf(')') + 2);
  return state === 'Z' || state === 'X' ? 'zombie' : parseStat(text);
}

export const isLiving = ({ state }: ProcessStat): boolean => state !== 'Z' && state !== 'X' && state !== 'x';

/** Reports whether exactly that process exists and is no zombie. */
export function isAlive(key: ProcessKey): boolean {
  const stat = readLiving(key.pid);
  return stat !== null && stat !== 'zombie' && stat.start === key.start;
}

/** Reports whether a pid is that of a thread: /proc does not list threads, but finds them by number. */
export function isThread(pid: number): boolean {
  const leader = /^Tgid:\s*(\d+)/m.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1];
  return leader !== undefined && Number(leader) !== pid;
}

/** Returns the last pid that the kernel assigned; 0 when unknown. Later processes have later pids. */
export function lastPid(): number {
  return Number(readProc('/proc/loadavg')?.trim().split(' ').at(-1) ?? 0);
}

/** Returns the first 4 KiB of a file in /proc; null when the process is gone or may not be read. */
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
 * Identifies the scope in which pids are unique: the boot of the machine and the pid namespace. A restarted container
 * is another boot, because its pids name other processes.
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

/** Returns the page size and clock rate, from the auxiliary vector that the kernel passes to every program. */
export function readUnits(): Units {
  const auxv = readFileSync('/proc/self/auxv');
  const valueOf = (name: bigint, otherwise: number) => {
    for (let at = 0; at + 16 <= auxv.length; at += 16) {
      if (auxv.readBigUInt64LE(at) === name) return Number(auxv.readBigUInt64LE(at + 8));
    }
    return otherwise;
  };
  return { pageBytes: valueOf(AT_PAGESZ, 4096), ticksPerSecond: valueOf(AT_CLKTCK, 100) };
}
