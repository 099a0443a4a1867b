/**
 * The files of an attempt's folder, and what the shim's own two say: `pid` and `exit`.
 *
 * Whoever reads them may come between two writes of the shim, so a line counts only with its newline. Nothing here
 * decides what a missing file means: that is adoption's (adopt.ts).
 */
import { readFileSync, statSync } from 'node:fs';
import { constants } from 'node:os';

/** A process, and not another one that was given its number later. `start` is in ticks since boot. */
export interface ProcessKey {
  readonly pid: number;
  readonly start: number;
}

/** The file `pid`: who runs the attempt. `script` is null for the moment between the shim's line and the script's. */
export interface PidRecord {
  readonly boot: string;
  readonly shim: ProcessKey;
  readonly script: ProcessKey | null;
  /** The pipe that the script speaks through, as /proc names it. Old kernels do not tell. */
  readonly saidPipe?: string;
  /** The name of the control group it was started in. */
  readonly group?: string;
}

export interface Exit {
  /** As a shell has it: 128 + the signal's number for a death by signal. */
  readonly status: number;
  /** A script that exits with 128 + n itself, as shells do when their child was killed, looks the same. */
  readonly signal: string | null;
  /** What was said through fd 3 is all in `said`; false when the disk was full. */
  readonly isSaidWhole: boolean;
  /** Processor time of the script and of everything it waited for, and of the shim's own helpers. */
  readonly cpuSeconds: number;
}

/** Stands in `pid` when an adopter was first: the attempt was never started and never will be. */
export const WITHDRAWN = 'withdrawn\n';

export interface AttemptFiles {
  readonly pid: string;
  readonly exit: string;
  readonly log: string;
  readonly said: string;
  /** How far what was said has been acted upon. */
  readonly heard: string;
  readonly logIndex: string;
  readonly usage: string;
  readonly deadline: string;
  /** Made by the watch over the deadline when it ended the attempt. */
  readonly overdue: string;
}

export function filesOf(folder: string): AttemptFiles {
  // The folder's path is whole already: making nine of them right again would take longer than reading one.
  const file = (name: string) => `${folder}/${name}`;
  return {
    pid: file('pid'),
    exit: file('exit'),
    log: file('log'),
    said: file('said'),
    heard: file('heard'),
    logIndex: file('log.index'),
    usage: file('usage.json'),
    deadline: file('deadline'),
    overdue: file('overdue'),
  };
}

/** Null for a record that is not there yet, in part or whole. */
export function parsePid(text: string): PidRecord | null {
  const [first, second] = wholeLines(text);
  const own = /^(\d+) (\d+) (\S+)(?: (\S+))?$/.exec(first ?? '');
  if (!own) return null;
  const script = /^(\d+) (\d+) (\d*)$/.exec(second ?? '');
  return {
    boot: own[3] ?? '',
    shim: keyOf(own),
    script: script ? keyOf(script) : null,
    ...(script?.[3] && { saidPipe: `pipe:[${script[3]}]` }),
    ...(own[4] !== undefined && { group: own[4] }),
  };
}

const keyOf = (match: RegExpExecArray): ProcessKey => ({ pid: Number(match[1]), start: Number(match[2]) });

/** Null until the shim has written the last line: before that it holds spaces, which only take room. */
export function parseExit(text: string): Exit | null {
  const lines = wholeLines(text);
  const last = /^(\d+) (\d+)$/.exec(lines[2] ?? '');
  if (!last) return null;
  const status = Number(last[1]);
  const cat = Number(last[2]);
  return {
    status,
    signal: signalOf(status),
    // 137: the shim ended an idle cat itself, because another process held fd 3 open.
    isSaidWhole: cat === 0 || cat === 137,
    cpuSeconds: parseTimes(lines[1] ?? ''),
  };
}

export function signalOf(status: number): string | null {
  const names = Object.entries(constants.signals);
  return names.find(([, number]) => number === status - 128)?.[0] ?? null;
}

/** A line of the shell's `times`, such as `0m1.500000s 0m0.250000s`. */
function parseTimes(line: string): number {
  const parts = [...line.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

const wholeLines = (text: string): string[] => text.split('\n').slice(0, -1);

export const readPid = (folder: string): PidRecord | null => parsePid(readIfThere(filesOf(folder).pid) ?? '');

/** Null until it is whole. */
export function readExit(folder: string): Exit | null {
  const text = readIfThere(filesOf(folder).exit);
  return text === null ? null : parseExit(text);
}

/** Null when there is no such file. Asked first: a thousand attempts that run are asked for their end every second. */
export function readIfThere(path: string): string | null {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? null : readFileSync(path, 'utf8');
}
