/** Lines of a log: numbered, each with its byte offset and its time, if known. */

import { filesOf } from '../../runner/attempt/attempt-files.ts';
import { entryBefore, readLogIndex } from '../../runner/log/log-index.ts';
import type { LogLines, OpenLog, ReadLogOptions } from '../../runner/log/read-log.ts';
import { MAX_PIECE_BYTES, readBytes, readLogLines, withLog } from '../../runner/log/read-log.ts';
import { timeAt } from './log-position.ts';

export interface LogLine {
  readonly line: number;
  readonly offset: number;
  /** Invalid UTF-8 becomes U+FFFD; the bytes themselves are available by range. */
  readonly text: string;
  /** The time by which it was written. */
  readonly at: number | null;
}

export interface LinesPage {
  readonly lines: readonly LogLine[];
  /** The number of the line after the last of these. */
  readonly next: number;
  /** End of the page, size of the log, and how often it was truncated. */
  readonly to: number;
  readonly size: number;
  readonly generation: number;
}

const newline = 0x0a;
const STEP_BYTES = 64 * 1024;

export async function linesFrom(
  folder: string,
  range: { readonly from: number; readonly count: number },
  options: ReadLogOptions,
): Promise<LinesPage> {
  return toPage(folder, await readLogLines(folder, range, options));
}

/** Returns the last lines; fewer when they exceed the largest piece. */
export async function lastLines(folder: string, count: number, options: ReadLogOptions): Promise<LinesPage> {
  const line = await withLog(folder, async (log) => lineAt(log, await startOfLast(log, count)));
  return linesFrom(folder, { from: line, count }, options);
}

function toPage(folder: string, { bytes, from, to, size, generation, line }: LogLines): LinesPage {
  const index = readLogIndex(filesOf(folder).logIndex);
  const lines: LogLine[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(newline, at);
    const end = found < 0 ? bytes.length : found;
    const offset = from + at;
    lines.push({ line: line + lines.length, offset, text: bytes.toString('utf8', at, end), at: timeAt(index, offset) });
    at = end + 1;
  }
  return { lines, next: line + lines.length, to, size, generation };
}

/** Reads backwards from the end, so that the last lines of a gigabyte are found at once. */
async function startOfLast(log: OpenLog, count: number): Promise<number> {
  const least = Math.max(0, log.size - MAX_PIECE_BYTES);
  let left = count;
  for (let end = log.size; end > least; ) {
    const from = Math.max(least, end - STEP_BYTES);
    const bytes = await readBytes(log, from, end - from);
    // The newline at the end of the last line starts no other line.
    const last = end === log.size ? bytes.length - 2 : bytes.length - 1;
    for (
      let at = last < 0 ? -1 : bytes.lastIndexOf(newline, last);
      at >= 0;
      at = at === 0 ? -1 : bytes.lastIndexOf(newline, at - 1)
    ) {
      left -= 1;
      if (left === 0) return from + at + 1;
    }
    end = from;
  }
  return least;
}

async function lineAt(log: OpenLog, offset: number): Promise<number> {
  const known = entryBefore(log.index, (entry) => entry.offset <= offset);
  let { line } = known;
  for (let at = known.offset; at < offset; at += STEP_BYTES) {
    const bytes = await readBytes(log, at, Math.min(STEP_BYTES, offset - at));
    for (let found = bytes.indexOf(newline); found >= 0; found = bytes.indexOf(newline, found + 1)) line += 1;
  }
  return line;
}
