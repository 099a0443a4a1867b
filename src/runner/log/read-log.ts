/**
 * Reads the log of an attempt, during or after the attempt: a range of bytes or lines. Secrets are masked with stars.
 *
 * Memory is bounded by the requested range, which has a limit. The generation tells a reader whether the log was cut
 * since its last read: then its content beyond `head` no longer exists.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { filesOf } from '../attempt/attempt-files.ts';
import { entryBefore, type LogIndex, readLogIndex } from './log-index.ts';
import { createRedactor, type Redactor } from './redact.ts';

export interface LogPiece {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** The size of the log. */
  readonly size: number;
  readonly generation: number;
  readonly head: number;
}

export interface LogLines extends LogPiece {
  /** The number of the first line, from 1. */
  readonly line: number;
}

export interface ReadLogOptions {
  readonly secrets?: readonly string[];
  /** The log may still grow: last bytes that could start a secret are held back. */
  readonly isRunning?: boolean;
}

export const MAX_PIECE_BYTES = 1024 * 1024;
const SCAN_BYTES = 64 * 1024;
const STREAMED_BYTES = 256 * 1024;
const newline = 0x0a;

export async function readLog(
  folder: string,
  range: { readonly from: number; readonly maxBytes?: number },
  options: ReadLogOptions = {},
): Promise<LogPiece> {
  return await withLog(folder, async (log) => {
    const from = Math.min(Math.max(0, range.from), log.size);
    const length = Math.min(range.maxBytes ?? MAX_PIECE_BYTES, MAX_PIECE_BYTES);
    return await readPiece(log, { from, to: Math.min(log.size, from + length) }, options);
  });
}

/** Reads complete lines from a line number, except for a line that is longer than the limit. */
export async function readLogLines(
  folder: string,
  range: { readonly from: number; readonly count: number },
  options: ReadLogOptions = {},
): Promise<LogLines> {
  return await withLog(folder, async (log) => {
    const first = entryBefore(log.index, ({ line }) => line < range.from);
    const from = await skipLines(log, first.offset, { count: range.from - first.line });
    const to = await skipLines(log, from, { count: range.count, limit: from + MAX_PIECE_BYTES });
    return { ...(await readPiece(log, { from, to }, options)), line: range.from };
  });
}

export interface OpenLog {
  readonly file: FileHandle | null;
  readonly size: number;
  readonly index: LogIndex;
}

/** Opens a log; a missing log is an empty one. */
export async function withLog<T>(folder: string, use: (log: OpenLog) => Promise<T>): Promise<T> {
  const { log, logIndex } = filesOf(folder);
  const index = readLogIndex(logIndex);
  const file = await open(log, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  try {
    return await use({ file, size: file ? (await file.stat()).size : 0, index });
  } finally {
    await file?.close();
  }
}

export interface StreamedPiece {
  readonly bytes: Buffer;
  readonly offset: number;
}

/** Yields the log from an offset up to its current size, in parts with the secrets masked. */
export async function* streamLog(log: OpenLog, redactor: Redactor, from = 0): AsyncGenerator<StreamedPiece> {
  for (let at = from; at < log.size; at += STREAMED_BYTES) {
    const bytes = await readMasked(log, { from: at, to: Math.min(log.size, at + STREAMED_BYTES) }, redactor);
    if (bytes.length === 0) return;
    yield { bytes, offset: at };
  }
}

async function readPiece(
  log: OpenLog,
  range: { readonly from: number; readonly to: number },
  { secrets = [], isRunning = false }: ReadLogOptions,
): Promise<LogPiece> {
  const redactor = createRedactor(secrets);
  const shown = await readMasked(log, range, redactor);
  const isTail = isRunning && range.to === log.size;
  const kept = shown.length - (isTail ? redactor.unfinished(shown) : 0);
  const { generation, head } = log.index;
  return { bytes: shown.subarray(0, kept), from: range.from, to: range.from + kept, size: log.size, generation, head };
}

/** A secret may span the ends of the range. */
async function readMasked(log: OpenLog, { from, to }: { from: number; to: number }, redactor: Redactor) {
  const first = Math.max(0, from - redactor.overlap);
  const window = await readBytes(log, first, Math.min(log.size, to + redactor.overlap) - first);
  return redactor.mask(window).subarray(from - first, to - first);
}

export async function readBytes({ file }: OpenLog, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let read = 0;
  while (file && read < length) {
    const { bytesRead } = await file.read(buffer, read, length - read, from + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}

/** Returns the offset after `count` lines; the end of the log, or the limit, when there are fewer. */
async function skipLines(log: OpenLog, from: number, skip: { count: number; limit?: number }): Promise<number> {
  const end = Math.min(skip.limit ?? log.size, log.size);
  let left = skip.count;
  for (let at = from; left > 0 && at < end; ) {
    const bytes = await readBytes(log, at, Math.min(SCAN_BYTES, end - at));
    if (bytes.length === 0) return at;
    for (let found = bytes.indexOf(newline); found >= 0; found = bytes.indexOf(newline, found + 1)) {
      left -= 1;
      if (left === 0) return at + found + 1;
    }
    at += bytes.length;
  }
  return left > 0 ? end : from;
}
