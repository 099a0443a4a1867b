/**
 * The position of a log reader. A log that reaches its limit is truncated: the bytes beyond `head` are removed and its
 * generation grows. Pure.
 */
import type { LogIndex } from '../../runner/log/log-index.ts';

export interface LogPosition {
  readonly offset: number;
  readonly generation: number;
}

export interface LogShape {
  readonly size: number;
  readonly generation: number;
  /** Bytes that remain of the beginning after the last truncation. */
  readonly head: number;
  /** Total bytes removed. */
  readonly dropped: number;
}

/** Parses `1234`, or `1234.2` for a log that was truncated twice. Returns null for anything else. */
export function parseLogPosition(text: string): LogPosition | null {
  const [, offset, generation = '0'] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  return offset === undefined ? null : { offset: Number(offset), generation: Number(generation) };
}

export function formatLogPosition({ offset, generation }: LogPosition): string {
  return generation === 0 ? String(offset) : `${offset}.${generation}`;
}

/** Returns whether the bytes up to this position are still in the log. */
export function isStillThere(position: LogPosition, { generation, head, size }: Omit<LogShape, 'dropped'>): boolean {
  if (position.generation === generation) return true;
  return position.generation < generation && position.offset <= Math.min(head, size);
}

/** Returns the time by which the byte at this offset was written, if the index has it. */
export function timeAt({ entries }: LogIndex, offset: number): number | null {
  return entries.find((entry) => entry.offset > offset)?.at ?? null;
}

const CONTINUED = 0b1000_0000;

/** Returns how many of the last bytes belong to an incomplete character. */
export function unfinishedCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0b1100_0000) === CONTINUED) continue;
    return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOf(first: number): number {
  if (first >= 0xf0 && first <= 0xf4) return 4;
  if (first >= 0xe0) return first < 0xf0 ? 3 : 1;
  return first >= 0xc2 ? 2 : 1;
}
