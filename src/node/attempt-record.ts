/**
 * `attempt.json` in an attempt's folder: which script really ran, when, what it used, how it ended, and what its
 * stop knows of the rest. For people, for the pages, and for the node that takes an attempt up.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RefusedOutput } from '../blobs/list-outputs.ts';
import type { AttemptEnd } from '../runner/attempt.ts';
import type { Terminated } from '../runner/terminate.ts';

export interface AttemptRecord {
  /** As it was configured, and with its links resolved at the start. */
  readonly script: string;
  readonly realScript: string;
  readonly argv: readonly string[];
  readonly startedAt: number;
  readonly pausedAt: number | null;
  /** How long it was paused before. */
  readonly pausedMs: number;
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
  /** Outputs that were not taken, and why. */
  readonly refused: readonly RefusedOutput[];
}

type Started = Pick<AttemptRecord, 'script' | 'realScript' | 'argv'>;

export async function noteStart(folder: string, started: Started): Promise<void> {
  await write(folder, { ...started, startedAt: Date.now(), pausedAt: null, pausedMs: 0 });
}

export async function notePause(folder: string, isPaused: boolean): Promise<void> {
  const record = await readAttemptRecord(folder);
  if (record === null) return;
  const pausedMs = record.pausedMs + (record.pausedAt === null ? 0 : Date.now() - record.pausedAt);
  await write(folder, { ...record, pausedMs, pausedAt: isPaused ? Date.now() : null });
}

export interface EndFacts {
  readonly end: AttemptEnd;
  readonly stopped: Terminated;
  readonly refused: readonly RefusedOutput[];
}

export async function noteEnd(folder: string, { end, stopped, refused }: EndFacts): Promise<void> {
  const record = await readAttemptRecord(folder);
  if (record === null) return;
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
    refused,
  };
  await write(folder, { ...record, end: noted });
}

export function inWords({ left, killed, means }: Terminated): string {
  if (means.length === 0) return 'nothing is known of its processes';
  return `${left} known processes left, ${killed} killed; looked for by ${means.join(', ')}`;
}

/** Null for an attempt of which nothing was noted. */
export async function readAttemptRecord(folder: string): Promise<AttemptRecord | null> {
  try {
    return JSON.parse(await readFile(pathIn(folder), 'utf8')) as AttemptRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function write(folder: string, record: AttemptRecord): Promise<void> {
  const path = pathIn(folder);
  await writeFile(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

const pathIn = (folder: string): string => join(folder, 'attempt.json');
