/**
 * Masks secrets: every byte of every occurrence becomes a star, so that offsets stay the same.
 *
 * The input must exceed the shown range by `overlap` bytes on either side; otherwise a secret across the border would
 * be shown in halves. A secret of several lines is masked line by line.
 */

/** Shorter secrets would mask ordinary text. */
export const SHORTEST_SECRET = 4;
const star = 0x2a;

export interface Redactor {
  /** Bytes that must be read before and after the shown range. */
  readonly overlap: number;
  /** Returns a masked copy, or the same buffer when there is nothing to mask. */
  mask(bytes: Buffer): Buffer;
  /** Returns how many of the last bytes could be the beginning of a secret that continues. */
  unfinished(bytes: Buffer): number;
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const needles = toNeedles(secrets);
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1));
  return {
    overlap,
    mask(bytes) {
      const ranges = needles.flatMap((needle) => rangesOf(needle, bytes));
      if (ranges.length === 0) return bytes;
      const copy = Buffer.from(bytes);
      for (const { from, to } of ranges) copy.fill(star, from, to);
      return copy;
    },
    unfinished: (bytes) => Math.max(0, ...needles.map((needle) => longestPrefix(needle, bytes))),
  };
}

function toNeedles(secrets: readonly string[]): Buffer[] {
  const lines = secrets.flatMap((secret) => secret.split(/\r?\n/));
  return [...new Set(lines)].map((line) => Buffer.from(line)).filter(({ length }) => length >= SHORTEST_SECRET);
}

/** Finds occurrences, including overlapping ones. */
function rangesOf(needle: Buffer, bytes: Buffer): { from: number; to: number }[] {
  const ranges: { from: number; to: number }[] = [];
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
    ranges.push({ from: at, to: at + needle.length });
  }
  return ranges;
}

function longestPrefix(needle: Buffer, bytes: Buffer): number {
  for (let length = Math.min(needle.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length;
  }
  return 0;
}
