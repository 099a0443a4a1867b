/**
 * UUID version 7: sortable by time, and within a millisecond by a counter, so that new ids are appended to every index.
 *
 *     01a1f093-e557-7  6bc  -b980-37ea2237d428
 *     time             count  random end
 */
import { hexByte } from '../input/hex.ts';

/** The largest count within a millisecond. */
export const MAX_COUNT = 0xfff;
/** Hex digits that an end is made of. */
export const END_DIGITS = 16;

const VARIANTS = '89ab';

/** Returns the time part of an id. Ids of one millisecond share it, and formatting it costs more than the rest. */
export function uuidTime(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

/** Returns the end of an id. `random` has END_DIGITS random hex digits from `at` on. */
export function uuidEnd(random: string, at = 0): string {
  const variant = VARIANTS[Number.parseInt(random.charAt(at), 16) & 3];
  return `-${variant}${random.slice(at + 1, at + 4)}-${random.slice(at + 4, at + END_DIGITS)}`;
}

/** Builds an id of its parts: few, because an id is made for every job. */
export function uuid7(time: string, count: number, end: string): string {
  return time + hexByte(count >> 4) + (hexByte(count & 0xf)[1] as string) + end;
}
