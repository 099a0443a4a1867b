/**
 * `attempt.jsonl` in an attempt's directory: the script that ran, times, usage, exit, and how its processes were
 * stopped. For users, for the web UI, and for a node that adopts the attempt.
 *
 * A line is appended at the start, at each pause and at the end; later lines win. Appending is cheap, and an incomplete
 * line after a crash is ignored.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { Phase } from '../../core/job/phase.ts';
import type { RefusedOutput } from '../../files/outputs/list-outputs.ts';
import type { AttemptEnd } from '../../runner/attempt/attempt.ts';
import type { LogGap } from '../../runner/log/log-index.ts';
import type { TerminateResult } from '../../runner/process-tree/terminate.ts';

/** Identifies an attempt and its lease. */
export interface AttemptEntry {
  readonly id: string;
  readonly queue: string;
  readonly attempt: number;
  readonly token: number;
  /** The lease time of the claim: a planned absence extends it for a while. */
  readonly leaseMs: number;
}

export interface AttemptRecord extends AttemptEntry {
  /** The script as configured, and with its links resolved at the start. */
  readonly script: string;
  readonly realScript: string;
  readonly argv: readonly string[];
  readonly startedAt: number;
  readonly pausedAt: number | null;
  /** Total time of earlier pauses. */
  readonly pausedMs: number;
  /** Phases from its status texts so far. */
  readonly phases?: readonly Phase[];
  /** The end of the attempt's part before it was suspended, with the sums of all earlier parts. */
  readonly before?: AttemptEndRecord;
  readonly end?: AttemptEndRecord;
}

export interface AttemptEndRecord {
  readonly endedAt: number;
  readonly wallMs: number;
  /** Null when the shim died before it could report. */
  readonly exit: number | null;
  readonly signal: string | null;
  readonly oom: AttemptEnd['oom'];
  /** Totals; `usage.json` has the series. */
  readonly cpuSeconds: number;
  readonly peakRssBytes: number;
  readonly peakProcesses: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
  readonly stopped: TerminateResult & { readonly words: string };
  /** When a stop was requested, and when no process was left; null for an attempt that ended by itself. */
  readonly stop: { readonly askedAt: number; readonly goneAt: number } | null;
  /** Periods in which the disk was full, so that output may be missing in the log. Absent if there are none. */
  readonly logGaps?: readonly LogGap[];
  /** Outputs that were refused, with reasons. */
  readonly refused: readonly RefusedOutput[];
}

type Started = Pick<AttemptRecord, 'script' | 'realScript' | 'argv'>;

/** `earlier` is the record of the same attempt before it was suspended. */
export function noteStart(
  folder: string,
  job: RunningJob,
  started: Started,
  earlier: AttemptRecord | null = null,
): void {
  const { id, queue, attempt, lease } = job;
  const entry: AttemptEntry = { id, queue, attempt, token: lease.token, leaseMs: lease.ms };
  const { phases, end: before } = earlier ?? {};
  const kept = { ...(phases && { phases }), ...(before && { before }) };
  const record: AttemptRecord = { ...entry, ...started, startedAt: Date.now(), pausedAt: null, pausedMs: 0, ...kept };
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
  readonly stopped: TerminateResult;
  readonly stop: AttemptEndRecord['stop'];
  readonly refused: readonly RefusedOutput[];
  readonly logGaps: readonly LogGap[];
  readonly before?: AttemptEndRecord;
}

export function noteEnd(folder: string, { end, stopped, stop, refused, logGaps, before }: EndFacts): void {
  const { cpuSeconds, peakRssBytes, peakProcesses, readBytes, writtenBytes } = end.usage;
  const noted: AttemptEndRecord = {
    endedAt: end.endedAt,
    wallMs: Math.round(end.endedAt - end.startedAt) + (before?.wallMs ?? 0),
    exit: end.exit?.status ?? null,
    signal: end.exit?.signal ?? null,
    oom: end.oom,
    cpuSeconds: cpuSeconds + (before?.cpuSeconds ?? 0),
    peakRssBytes: Math.max(peakRssBytes, before?.peakRssBytes ?? 0),
    peakProcesses: Math.max(peakProcesses, before?.peakProcesses ?? 0),
    readBytes: readBytes + (before?.readBytes ?? 0),
    writtenBytes: writtenBytes + (before?.writtenBytes ?? 0),
    stopped: { ...stopped, words: stopText(stopped) },
    stop,
    ...(logGaps.length > 0 && { logGaps }),
    refused,
  };
  append(folder, { end: noted });
}

export function stopText({ left, killed, means }: TerminateResult): string {
  if (means.length === 0) return 'its processes are not known';
  return `${left} known processes left, ${killed} killed; found by ${means.join(', ')}`;
}

/** Returns null for an attempt without a record. */
export async function readAttemptRecord(folder: string): Promise<AttemptRecord | null> {
  try {
    return parseAttemptRecord(await readFile(recordPath(folder), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns null when even the first line is incomplete. */
export function parseAttemptRecord(text: string): AttemptRecord | null {
  const lines = text.split('\n').slice(0, -1);
  if (lines.length === 0) return null;
  return Object.assign({}, ...lines.map((line) => JSON.parse(line) as object)) as AttemptRecord;
}

const toLine = (part: Partial<AttemptRecord>): string => `${JSON.stringify(part)}\n`;

/** Does nothing for an attempt without a record. */
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

/**
 * Appends a whole line or nothing: on a full disk a write may be partial, and the next line would follow the partial
 * one.
 */
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
