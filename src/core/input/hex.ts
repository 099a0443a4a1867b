/**
 * Bytes as hexadecimal digits, from a table. `Number.toString` is several times slower, which matters because this runs
 * for every job.
 */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Two digits; of a larger number the last byte. */
export const hexByte = (value: number): string => HEX[value & 0xff] as string;

/** Eight digits of a number below 2 ** 32. */
export const hexWord = (value: number): string =>
  hexByte(value >>> 24) + hexByte(value >>> 16) + hexByte(value >>> 8) + hexByte(value);
