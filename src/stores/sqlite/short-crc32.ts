/**
 * CRC-32 of short texts, four characters at a time. For the data of a usual job, the call of the function of Node takes
 * longer than this.
 *
 * Invariant: the result is that of `crc32` of node:zlib.
 */

/** Longer texts are faster with the function of Node. */
const MAX_LENGTH = 160;
/** Texts with other characters have more than one byte for each. */
const LAST_ASCII = 0x7f;
const POLYNOMIAL = 0xedb88320;

const FIRST = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ POLYNOMIAL : sum >>> 1;
  return sum;
});
/** The sum of a byte that one, two or three bytes follow. */
const SECOND = FIRST.map(shift);
const THIRD = SECOND.map(shift);
const FOURTH = THIRD.map(shift);

function shift(sum: number): number {
  return (sum >>> 8) ^ (FIRST[sum & 0xff] as number);
}

/** Returns the sum as a signed number; null if the text is too long, or has other characters than ASCII. */
export function shortCrc32(text: string): number | null {
  const { length } = text;
  if (length > MAX_LENGTH) return null;
  let sum = -1;
  let all = 0;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    const a = text.charCodeAt(at);
    const b = text.charCodeAt(at + 1);
    const c = text.charCodeAt(at + 2);
    const d = text.charCodeAt(at + 3);
    all |= a | b | c | d;
    sum ^= a | (b << 8) | (c << 16) | (d << 24);
    sum =
      (FOURTH[sum & 0xff] as number) ^
      (THIRD[(sum >>> 8) & 0xff] as number) ^
      (SECOND[(sum >>> 16) & 0xff] as number) ^
      (FIRST[sum >>> 24] as number);
  }
  for (; at < length; at++) {
    const last = text.charCodeAt(at);
    all |= last;
    sum = (sum >>> 8) ^ (FIRST[(sum ^ last) & 0xff] as number);
  }
  return all > LAST_ASCII ? null : ~sum;
}
