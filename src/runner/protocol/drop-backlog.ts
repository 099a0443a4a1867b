/**
 * Keeps a script that reports without end from filling the disk. When the unread part of the report file is far too
 * long, it is cut down to the lines that matter and its tail, and reading continues from the same offset.
 *
 * Invariant: lines that matter at the end (a completion, a result, a checkpoint, a dup …) are never dropped. Only lines
 * that set a text which a later line replaces may go. The writer must be paused meanwhile. The remaining lines stay in
 * the file unchanged, also for the next reader.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { JSON_LINE_LIMIT } from './report-lines.ts';

export const BACKLOG_LIMIT = 16 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const SLICE_BYTES = 1024 * 1024;
/** Limit for lines that matter. A script that exceeds it is malicious; its first completion is still kept. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
const newline = 0x0a;
const significantLine =
  /^(?:(done|relayed|err|fails|resend|retry|sleep|wait)(?: |$)|(?:dup|step|checkpoint|result|attach|tag|group|throttle) )/;
const longestVerb = 'checkpoint '.length;
/** First letters of such lines. Of those with an r, `run` is by far the most frequent. */
const firstLetters = new Set(Buffer.from('drefcatgsw'));

/** Cuts down the part beyond this offset. Returns how many bytes were dropped. */
export function dropBacklog(path: string, keptTo: number): number {
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const { size } = fstatSync(file);
    const tail = readAt(file, Math.max(keptTo, size - TAIL_BYTES), TAIL_BYTES);
    const kept = new KeptLines();
    scan(file, { from: keptTo, to: size - tail.length }, kept);
    ftruncateSync(file, keptTo);
    // The newline before the first complete line of the tail ends the line that was being written there.
    const rest = Buffer.concat([...kept.lines, tail.subarray(Math.max(0, tail.indexOf(newline)))]);
    for (let at = 0; at < rest.length; ) at += writeSync(file, rest, at);
    return size - keptTo - rest.length;
  } finally {
    closeSync(file);
  }
}

function scan(file: number, { from, to }: { from: number; to: number }, kept: KeptLines): void {
  for (let at = from; at < to; ) {
    const slice = readAt(file, at, Math.min(SLICE_BYTES, to - at));
    if (slice.length === 0) return;
    kept.take(slice);
    at += slice.length;
  }
}

function readAt(file: number, from: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, from));
}

/**
 * Collects lines that matter from slices that may split them anywhere. The first bytes belong to a line that was
 * already being read.
 */
class KeptLines {
  readonly lines: Buffer[] = [];
  #bytes = 0;
  #hasLateCompletion = false;
  /** The start of a line that continues in the next slice; null when the line is known not to matter. */
  #rest: Buffer | null = Buffer.alloc(0);
  #isFirst = true;

  take(slice: Buffer): void {
    let start = 0;
    for (let at = 0; at < slice.length; at += 1) {
      if (slice[at] !== newline) continue;
      if (start === 0 || mayMatter(slice, start)) this.#line(slice.subarray(start, at + 1));
      start = at + 1;
    }
    this.#carry(slice.subarray(start), start === 0);
  }

  #carry(part: Buffer, isSameLine: boolean): void {
    const before = isSameLine ? this.#rest : Buffer.alloc(0);
    const isLong = before !== null && before.length + part.length > JSON_LINE_LIMIT + longestVerb;
    this.#rest = before === null || isLong ? null : Buffer.concat([before, part]);
  }

  #line(part: Buffer): void {
    const whole = this.#rest === null ? null : Buffer.concat([this.#rest, part]);
    this.#rest = Buffer.alloc(0);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const match =
      whole === null ? null : significantLine.exec(whole.toString('latin1', 0, longestVerb).split('\n')[0] ?? '');
    if (whole !== null && (isFirst || match !== null)) this.#keep(whole, match?.[1] !== undefined);
  }

  #keep(line: Buffer, isCompletion: boolean): void {
    const isFull = this.#bytes + line.length > MAX_KEPT_BYTES;
    if (isFull && (!isCompletion || this.#hasLateCompletion)) return;
    if (isFull) this.#hasLateCompletion = true;
    this.#bytes += line.length;
    this.lines.push(Buffer.from(line));
  }
}

const mayMatter = (slice: Buffer, at: number): boolean =>
  firstLetters.has(slice[at] ?? 0) && !(slice[at] === 0x72 && slice[at + 1] === 0x75);
