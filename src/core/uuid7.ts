/** UUID version 7: sortable by time, so that new ids land beside each other in every index. */

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** `random` gives ten random bytes. */
export function uuid7(now: number, random: Uint8Array): string {
  const time = now.toString(16).padStart(12, '0');
  const tail = Array.from(random, (byte) => HEX[byte]).join('');
  const variant = HEX[((random[2] ?? 0) & 0x3f) | 0x80];
  return `${time.slice(0, 8)}-${time.slice(8)}-7${tail.slice(1, 4)}-${variant}${tail.slice(6, 8)}-${tail.slice(8, 20)}`;
}
