/** UUID version 7: sortable by time, so that new ids are adjacent in every index. */
import { hexByte } from '../input/hex.ts';

/** Returns the time part of an id. Ids of one millisecond share it, and formatting it costs more than the rest. */
export function uuidTime(now: number): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}

/** Builds an id. `random` has ten random bytes from `at` on. Written out, because an id is made for every job. */
export function uuid7(time: string, random: Uint8Array, at = 0): string {
  const hex = (index: number): string => hexByte(random[at + index] as number);
  const variant = hexByte(((random[at + 2] as number) & 0x3f) | 0x80);
  const node = hex(4) + hex(5) + hex(6) + hex(7) + hex(8) + hex(9);
  return `${time}-7${hex(0)[1]}${hex(1)}-${variant}${hex(3)}-${node}`;
}
