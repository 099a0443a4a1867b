/**
 * `attempt.jsonl` in an attempt's folder: which script really ran, when, what it used, how it ended, and what its
 * stop knows of the rest. For people, for the pages, and for the node that takes an attempt up.
 *
 * A line at its start, at each pause and at its end; what a later line says wins. So it is only ever added to, which
 * costs next to nothing, and a line that a crash left without its end counts for nothing.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { Phase } from '../../core/job/phase.ts';
import type { RefusedOutput } from '../../files/outputs/list-outputs.ts';
import type { AttemptEnd } from '../../runner/attempt/attempt.ts';
import type { LogGap } from '../../runner/log/log-index.ts';
import type { Terminated } from '../../runner/process-tree/terminate.ts';

/** Which attempt it is, and by what right it runs. */
export interface AttemptMark {
  readonly id: string;
  readonly queue: string;
  readonly attempt: number;
  readonly token: number;
  /** The length its lease was claimed with: a planned absence makes it longer for a while. */
  readonly leaseMs: number;
}

export interface AttemptRecord extends AttemptMark {
  /** As it was configured, and with its links resolved at the start. */
  readonly script: string;
  readonly realScript: string;
  readonly argv: readonly string[];
  readonly startedAt: number;
  readonly pausedAt: number | null;
  /** How long it was paused before. */
  readonly pausedMs: number;
  /** What its status texts told so far. */
  readonly phases?: readonly Phase[];
  readonly end?: AttemptEndRecord;
}

export interface AttemptEndRecord {
  readonly endedAt: number;
  readonly wallMs: number;
  /** Null when its shim was lost before it could say. */
  readonly exit: number | null;
  readonly signal: string | null;
  readonly oom: AttemptEnd['oom'];
  /** Totals; the series is in `usage.json`. */
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  readonly peakProcesses: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly stopped: Terminated & { readonly words: string };
  /** When it was asked to stop, and when nothing was left of it; null for one that ended by itself. */
  readonly stop: { readonly askedAt: number; readonly goneAt: number } | null;
  /** Stretches in which the disk was full, so that output may be missing in the log. Absent where there is none. */
  readonly logGaps?: readonly LogGap[];
  /** Outputs that were not taken, and why. */
  readonly refused: readonly RefusedOutput[];
}

type Started = Pick<AttemptRecord, 'script' | 'realScript' | 'argv'>;

export function noteStart(folder: string, job: RunningJob, started: Started): void {
  const { id, queue, attempt, lease } = job;
  const mark: AttemptMark = { id, queue, attempt, token: lease.token, leaseMs: lease.ms };
  const record: AttemptRecord = { ...mark, ...started, startedAt: Date.now(), pausedAt: null, pausedMs: 0 };
  writeFileSync(recordPath(folder), toLine(record), { mode: 0o600 });
}

export async function notePause(folder: string, isPaused: boolean): Promise<void> {
  const record = await readAttemptRecord(folder);
  if (record === null) return;
  const pausedMs = record.pausedMs + (record.pausedAt === null ? 0 : Date.now() - record.pausedAt);
  append(folder, { pausedMs, pausedAt: isPaused ? Date.now() : null });
}

export function notePhases(folder: string, phases: readonly Phase[]): void {
  append(folder, { phases });
}

export interface EndFacts {
  readonly end: AttemptEnd;
  readonly stopped: Terminated;
  readonly stop: AttemptEndRecord['stop'];
  readonly refused: readonly RefusedOutput[];
  readonly logGaps: readonly LogGap[];
}

export function noteEnd(folder: string, { end, stopped, stop, refused, logGaps }: EndFacts): void {
  const { cpuSeconds, peakRssBytes, peakProcesses, readBytes, writtenBytes } = end.usage;
  const noted: AttemptEndRecord = {
    endedAt: end.endedAt,
    wallMs: Math.round(end.endedAt - end.startedAt),
    exit: end.exit?.status ?? null,
    signal: end.exit?.signal ?? null,
    oom: end.oom,
    cpuSeconds,
    peakRssBytes,
    peakProcesses,
    readBytes,
    writtenBytes,
    stopped: { ...stopped, words: inWords(stopped) },
    stop,
    ...(logGaps.length > 0 && { logGaps }),
    refused,
  };
  append(folder, { end: noted });
}

export function inWords({ left, killed, means }: Terminated): string {
  if (means.length === 0) return 'nothing is known of its processes';
  return `${left} known processes left, ${killed} killed; looked for by ${means.join(', ')}`;
}

/** Null for an attempt of which nothing was noted. */
export async function readAttemptRecord(folder: string): Promise<AttemptRecord | null> {
  try {
    return parseAttemptRecord(await readFile(recordPath(folder), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Null when not even the first line is whole. */
export function parseAttemptRecord(text: string): AttemptRecord | null {
  const lines = text.split('\n').slice(0, -1);
  if (lines.length === 0) return null;
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as AttemptRecord;
}

const toLine = (part: Partial<AttemptRecord>): string => `${JSON.stringify(part)}\n`;

/** Nothing was noted of an attempt that has no such file, and nothing is noted now. */
function append(folder: string, part: Partial<AttemptRecord>): void {
  let file: number | null = null;
  try {
    file = openSync(recordPath(folder), constants.O_WRONLY | constants.O_APPEND);
    appendWhole(file, Buffer.from(toLine(part)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** On a full disk a write may take a part of a line, and the next line would stand behind it: all of it, or nothing. */
function appendWhole(file: number, line: Buffer): void {
  const { size } = fstatSync(file);
  try {
    for (let at = 0; at < line.length; ) at += writeSync(file, line, at);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

export const recordPath = (folder: string): string => join(folder, 'attempt.jsonl');
