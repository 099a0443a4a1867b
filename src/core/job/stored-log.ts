/**
 * The log of one attempt as a store keeps it: complete up to a limit; beyond it the beginning and the end, with a mark
 * between. Pure. `lua/lib/logs/stored-logs.lua` restates it.
 *
 *     head │ mark: how much is missing │ tail
 *
 * A cut keeps the head, a quarter of the limit, and half of the rest, so that the next cut comes after many appends.
 * Invariant: a cut happens between lines if it can, and always between characters.
 */
import type { StoredGap } from '../ports/log-store.ts';

export interface StoredLog {
  readonly body: Uint8Array;
  /** Bytes of the output that were received; where the next append begins. */
  readonly end: number;
  /** Where the mark begins, and its length; 0 while nothing is missing. */
  readonly head: number;
  readonly mark: number;
  /** Bytes and lines that are missing, and how often the log was cut. */
  readonly dropped: number;
  readonly lines: number;
  readonly generation: number;
  readonly gaps: readonly StoredGap[];
}

export interface NewOutput {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly gap: Omit<StoredGap, 'offset'> | null;
}

const HEAD_SHARE = 0.25;
export const MAX_LOG_GAPS = 100;
const newline = 0x0a;

export const EMPTY_LOG: StoredLog = {
  body: new Uint8Array(0),
  end: 0,
  head: 0,
  mark: 0,
  dropped: 0,
  lines: 0,
  generation: 0,
  gaps: [],
};

/** Returns the log with this output. What it has already is not added again. */
export function withOutput(log: StoredLog, { offset, bytes, gap }: NewOutput, limit: number): StoredLog {
  if (offset + bytes.length <= log.end) return log;
  const before = offset > log.end ? withHole(log, offset) : log;
  const fresh = bytes.subarray(before.end - offset);
  const gaps = gap === null ? before.gaps : [...before.gaps, { ...gap, offset: before.body.length }];
  const after = {
    ...before,
    body: joined(before.body, fresh),
    end: before.end + fresh.length,
    gaps: gaps.slice(-MAX_LOG_GAPS),
  };
  return after.body.length > limit ? cut(after, limit) : after;
}

/** Output between `end` and `offset` never arrived: the store lost the log, or a part of it. */
function withHole(log: StoredLog, offset: number): StoredLog {
  const { body, head, mark, dropped } = log;
  const [kept, tail] = dropped > 0 ? [head, body.subarray(head + mark)] : [body.length, body.subarray(body.length)];
  return withMark({ ...log, end: offset }, kept, {
    removed: tail,
    missing: offset - log.end,
    tail: tail.subarray(tail.length),
  });
}

function cut(log: StoredLog, limit: number): StoredLog {
  const { body, dropped } = log;
  const head = dropped > 0 ? log.head : lineEndBefore(body, Math.floor(limit * HEAD_SHARE));
  const from = head + log.mark;
  const at = lineStartFrom(body, Math.max(from, body.length - Math.floor((limit - head) / 2)));
  return withMark(log, head, { removed: body.subarray(from, at), missing: 0, tail: body.subarray(at) });
}

interface Removal {
  readonly removed: Uint8Array;
  readonly missing: number;
  readonly tail: Uint8Array;
}

function withMark(log: StoredLog, head: number, { removed, missing, tail }: Removal): StoredLog {
  const dropped = log.dropped + removed.length + missing;
  const lines = log.lines + linesIn(removed);
  const start = head > 0 && log.body[head - 1] !== newline ? '\n' : '';
  const mark = new TextEncoder().encode(`${start}${missingMark(dropped, lines)}`);
  const body = joined(log.body.subarray(0, head), mark, tail);
  return { ...log, body, head, mark: mark.length, dropped, lines, generation: log.generation + 1 };
}

function missingMark(bytes: number, lines: number): string {
  return `[longhaul: ${bytes} bytes and ${lines} lines of output are missing here]\n`;
}

function linesIn(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === newline) lines += 1;
  return lines;
}

/** Returns the end of the last line before an offset; in a longer line, the end of the last character. */
function lineEndBefore(body: Uint8Array, offset: number): number {
  const line = body.lastIndexOf(newline, offset - 1);
  return line >= 0 ? line + 1 : characterAt(body, offset);
}

/** Returns the start of the first line from an offset on; in a longer line, the start of a character. */
function lineStartFrom(body: Uint8Array, offset: number): number {
  if (offset === 0 || body[offset - 1] === newline) return offset;
  const line = body.indexOf(newline, offset);
  return line >= 0 && line + 1 < body.length ? line + 1 : characterAt(body, offset);
}

/** Returns the start of the first character from an offset on. */
function characterAt(body: Uint8Array, offset: number): number {
  let at = offset;
  while (at < body.length && isContinued(body[at] ?? 0)) at += 1;
  return at;
}

/** Returns the bytes without the incomplete character at their end. */
export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinued(byte)) return lengthOf(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

const isContinued = (byte: number): boolean => (byte & 0b1100_0000) === 0b1000_0000;

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
