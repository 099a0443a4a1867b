/**
 * Secrets out of what is read: every byte of every occurrence becomes a star, so that offsets stay what they are.
 *
 * What is looked at must reach beyond what is shown by `overlap` bytes on either side, or a secret that lies across
 * the border would be seen in halves. A secret of several lines is looked for line by line.
 */

/** Shorter ones would blot out ordinary text. */
export const SHORTEST_SECRET = 4;
const star = 0x2a;

export interface Redactor {
  /** How far before and after what is shown must be looked. */
  readonly overlap: number;
  /** A copy with stars, or the same buffer when there is nothing to hide. */
  mask(bytes: Buffer): Buffer;
  /** How many of the last bytes could be the beginning of a secret whose rest is still to come. */
  unfinished(bytes: Buffer): number;
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const needles = toNeedles(secrets);
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1));
  return {
    overlap,
    mask(bytes) {
      const places = needles.flatMap((needle) => placesOf(needle, bytes));
      if (places.length === 0) return bytes;
      const copy = Buffer.from(bytes);
      for (const { from, to } of places) copy.fill(star, from, to);
      return copy;
    },
    unfinished: (bytes) => Math.max(0, ...needles.map((needle) => longestBeginning(needle, bytes))),
  };
}

function toNeedles(secrets: readonly string[]): Buffer[] {
  const lines = secrets.flatMap((secret) => secret.split(/\r?\n/));
  return [...new Set(lines)].map((line) => Buffer.from(line)).filter(({ length }) => length >= SHORTEST_SECRET);
}

/** Also occurrences that overlap each other. */
function placesOf(needle: Buffer, bytes: Buffer): { from: number; to: number }[] {
  const places: { from: number; to: number }[] = [];
  for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + 1)) {
    places.push({ from: at, to: at + needle.length });
  }
  return places;
}

function longestBeginning(needle: Buffer, bytes: Buffer): number {
  for (let length = Math.min(needle.length - 1, bytes.length); length > 0; length -= 1) {
    if (bytes.subarray(bytes.length - length).equals(needle.subarray(0, length))) return length;
  }
  return 0;
}
