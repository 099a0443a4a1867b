/**
 * Where a reader of a log is, and what a log looks like from there. A log that reached its cap was cut: then what was
 * read beyond `head` is no longer there, and its generation tells. Pure.
 */
import type { LogIndex } from '../../runner/log/log-index.ts';

export interface LogPlace {
  readonly offset: number;
  readonly generation: number;
}

export interface LogShape {
  readonly size: number;
  readonly generation: number;
  /** What remains of the beginning after the last cut. */
  readonly head: number;
  /** How many bytes were dropped in all. */
  readonly dropped: number;
}

/** `1234`, or `1234.2` in a log that was cut twice. Null for anything else. */
export function parseLogPlace(text: string): LogPlace | null {
  const [, offset, generation = '0'] = /^(\d{1,15})(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  return offset === undefined ? null : { offset: Number(offset), generation: Number(generation) };
}

export function formatLogPlace({ offset, generation }: LogPlace): string {
  return generation === 0 ? String(offset) : `${offset}.${generation}`;
}

/** Whether what was read up to this place still stands in the log. */
export function isStillThere(place: LogPlace, { generation, head, size }: Omit<LogShape, 'dropped'>): boolean {
  if (place.generation === generation) return true;
  return place.generation < generation && place.offset <= Math.min(head, size);
}

/** By when the byte at this offset was written, as far as the index knows. */
export function timeAt({ entries }: LogIndex, offset: number): number | null {
  return entries.find((entry) => entry.offset > offset)?.at ?? null;
}

const CONTINUED = 0b1000_0000;

/** How many of the last bytes are the beginning of a character whose rest is still to come. */
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
