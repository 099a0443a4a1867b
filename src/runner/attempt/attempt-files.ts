/**
 * The files of an attempt directory, and the parsers of the two that the shim writes: `pid` and `exit`.
 *
 * A reader may come between two writes of the shim, so a line counts only with its newline. This module does not decide
 * what a missing file means; adopt.ts does.
 */
import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';

/** A process. The start time, in ticks since boot, distinguishes it from a later process with the same pid. */
export interface ProcessKey {
  readonly pid: number;
  readonly start: number;
}

/** The file `pid`: the processes that run the attempt. `script` is null until the script has written its line. */
export interface PidRecord {
  readonly boot: string;
  readonly shim: ProcessKey;
  readonly script: ProcessKey | null;
  /** The pipe behind fd 3, as /proc names it. Absent on old kernels. */
  readonly reportPipe?: string;
  /** The name of the control group that the script was started in. */
  readonly group?: string;
}

export interface Exit {
  /** The exit status as a shell reports it: 128 + the signal number after a death by signal. */
  readonly status: number;
  /** The signal of the status. A script that itself exits with 128 + n, as shells do, looks the same. */
  readonly signal: string | null;
  /** Whether everything written to fd 3 is in the report file; false when the disk was full. */
  readonly areReportsComplete: boolean;
  /** CPU time of the script, of every process it waited for, and of the helpers of the shim. */
  readonly cpuSeconds: number;
}

/** The content of `pid` when an adopter created it first: the attempt was never started and never will be. */
export const WITHDRAWN = 'withdrawn\n';

export interface AttemptFiles {
  readonly pid: string;
  readonly exit: string;
  readonly log: string;
  /** What the script wrote to fd 3. */
  readonly reports: string;
  /** Offset up to which reports were processed. */
  readonly processed: string;
  readonly logIndex: string;
  readonly usage: string;
  readonly deadline: string;
  /** Created by deadline.sh when it ended the attempt. */
  readonly overdue: string;
  /** Created when the attempt is ended because its processes used too much memory. */
  readonly overMemory: string;
}

export function filesOf(folder: string): AttemptFiles {
  // The path is already normalized: `join` for ten files would take longer than reading one.
  const file = (name: string) => `${folder}/${name}`;
  return {
    pid: file('pid'),
    exit: file('exit'),
    log: file('log'),
    reports: `${folder}/said`,
    processed: `${folder}/heard`,
    logIndex: file('log.index'),
    usage: file('usage.json'),
    deadline: file('deadline'),
    overdue: file('overdue'),
    overMemory: file('over-memory'),
  };
}

/** Returns null while the record is missing or incomplete. */
export function parsePid(text: string): PidRecord | null {
  const [first, second] = wholeLines(text);
  const own = /^(\d+) (\d+) (\S+)(?: (\S+))?$/.exec(first ?? '');
  if (!own) return null;
  const script = /^(\d+) (\d+) (\d*)$/.exec(second ?? '');
  return {
    boot: own[3] ?? '',
    shim: keyOf(own),
    script: script ? keyOf(script) : null,
    ...(script?.[3] && { reportPipe: `pipe:[${script[3]}]` }),
    ...(own[4] !== undefined && { group: own[4] }),
  };
}

const keyOf = (match: RegExpExecArray): ProcessKey => ({ pid: Number(match[1]), start: Number(match[2]) });

/** Returns null until the shim has written the last line; before that the file contains spaces that reserve room. */
export function parseExit(text: string): Exit | null {
  const lines = wholeLines(text);
  const last = /^(\d+) (\d+)$/.exec(lines[2] ?? '');
  if (!last) return null;
  const status = Number(last[1]);
  const cat = Number(last[2]);
  return {
    status,
    signal: signalOf(status),
    // 137: the shim killed an idle cat because another process held fd 3 open.
    areReportsComplete: cat === 0 || cat === 137,
    cpuSeconds: parseTimes(lines[1] ?? ''),
  };
}

export function signalOf(status: number): string | null {
  const names = Object.entries(constants.signals);
  return names.find(([, number]) => number === status - 128)?.[0] ?? null;
}

/** Parses a line of the shell builtin `times`, such as `0m1.500000s 0m0.250000s`. */
function parseTimes(line: string): number {
  const parts = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

const wholeLines = (text: string): string[] => text.split('\n').slice(0, -1);

export const readPid = (folder: string): PidRecord | null => parsePid(readIfExists(filesOf(folder).pid) ?? '');

/** Returns null until the file is complete. */
export function readExit(folder: string): Exit | null {
  const text = readIfExists(filesOf(folder).exit);
  return text === null ? null : parseExit(text);
}

/**
 * Returns null when the file does not exist. The stat comes first because 1,000 running attempts are polled every
 * second.
 */
export function readIfExists(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? null : readFileSync(path, 'utf8');
}
