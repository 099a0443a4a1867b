/**
 * Keeps a script that speaks without end from filling the disk: when far more was said than was read, the unread part
 * is cut down to the lines that count and its end, and reading goes on from where it was.
 *
 * Invariant: what counts at the end (a completion, a result, a checkpoint, a dup …) is never dropped. What may go are
 * lines that only set a text which a later one replaces. Whoever writes must stand still meanwhile, and whatever
 * remains stands in the file as it was said, also for the next reader.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { JSON_LINE_LIMIT } from './report-lines.ts';

export const BACKLOG_LIMIT = 16 * 1024 * 1024;
const TAIL_BYTES = 64 * 1024;
const SLICE_BYTES = 1024 * 1024;
/** Of lines that count. A script that says more of them than that is after mischief; its first completion counts. */
const MOST_KEPT_BYTES = 4 * 1024 * 1024;
const newline = 0x0a;
const counting = /^(?:(done|relayed|err|fails|resend)(?: |$)|(?:dup|checkpoint|result|attach|tag|group) )/;
const longestWord = 'checkpoint '.length;
/** What such lines begin with; of those with an r, `run` is by far the most frequent. */
const firstLetters = new Set(Buffer.from('drefcatg'));

/** Cuts down what is beyond this offset. Answers how many bytes were dropped. */
export function dropBacklog(path: string, keptTo: number): number {
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const { size } = fstatSync(file);
    const tail = readAt(file, Math.max(keptTo, size - TAIL_BYTES), TAIL_BYTES);
    const kept = new KeptLines();
    scan(file, { from: keptTo, to: size - tail.length }, kept);
    ftruncateSync(file, keptTo);
    // The newline before the tail's first whole line ends whatever line was being said there.
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

/** Lines that count, out of slices that may cut them anywhere. The first bytes belong to a line that was being read. */
class KeptLines {
  readonly lines: Buffer[] = [];
  #bytes = 0;
  #hasLateCompletion = false;
  /** The beginning of a line that goes on in the next slice; null when it is known not to count. */
  #rest: Buffer | null = Buffer.alloc(0);
  #isFirst = true;

  take(slice: Buffer): void {
    let start = 0;
    for (let at = 0; at < slice.length; at += 1) {
      if (slice[at] !== newline) continue;
      if (start === 0 || mayCount(slice, start)) this.#line(slice.subarray(start, at + 1));
      start = at + 1;
    }
    this.#carry(slice.subarray(start), start === 0);
  }

  #carry(part: Buffer, isSameLine: boolean): void {
    const before = isSameLine ? this.#rest : Buffer.alloc(0);
    const isLong = before !== null && before.length + part.length > JSON_LINE_LIMIT + longestWord;
    this.#rest = before === null || isLong ? null : Buffer.concat([before, part]);
  }

  #line(part: Buffer): void {
    const whole = this.#rest === null ? null : Buffer.concat([this.#rest, part]);
    this.#rest = Buffer.alloc(0);
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const match = whole === null ? null : counting.exec(whole.toString('latin1', 0, longestWord).split('\n')[0] ?? '');
    if (whole !== null && (isFirst || match !== null)) this.#keep(whole, match?.[1] !== undefined);
  }

  #keep(line: Buffer, isCompletion: boolean): void {
    const isMuch = this.#bytes + line.length > MOST_KEPT_BYTES;
    if (isMuch && (!isCompletion || this.#hasLateCompletion)) return;
    if (isMuch) this.#hasLateCompletion = true;
    this.#bytes += line.length;
    this.lines.push(Buffer.from(line));
  }
}

const mayCount = (slice: Buffer, at: number): boolean =>
  firstLetters.has(slice[at] ?? 0) && !(slice[at] === 0x72 && slice[at + 1] === 0x75);
