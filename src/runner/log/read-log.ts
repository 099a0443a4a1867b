/**
 * Reads an attempt's log, while it is written or afterwards: a range of bytes, or of lines. Secrets come out as stars.
 *
 * It never holds more than what was asked for, and that has a limit. The generation tells a reader that goes on from
 * an offset whether the log was cut since: then what it has beyond `head` is no longer there.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { filesOf } from '../attempt/attempt-files.ts';
import { entryBefore, type LogIndex, readLogIndex } from './log-index.ts';
import { createRedactor, type Redactor } from './redact.ts';

export interface LogPiece {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
  /** How long the log is. */
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
  /** It may still grow: then its last bytes are held back if they could be the beginning of a secret. */
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

/** From a line on, counted from 1; whole lines, but for one that is longer than a piece may be. */
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

/** A log that is not there is an empty one. */
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

/** Yields the log from an offset up to the length it has now, in pieces with the secrets masked. */
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

/** A secret may lie across the ends of the range. */
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

/** Where the line begins that is so many lines on; at the end of the log, or at the limit, when there are not as many. */
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
