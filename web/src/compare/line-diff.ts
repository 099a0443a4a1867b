/** A line diff by longest common subsequence. Pure. */
export interface DiffLine {
  readonly side: 'both' | 'a' | 'b';
  readonly text: string;
}

/** The most lines compared per side: the work grows with the product. */
export const MAX_LINES = 2_000;

/** `sameAs` maps a line to its comparison key, such as the line without numbers. */
export function diffLines(
  a: readonly string[],
  b: readonly string[],
  sameAs: (line: string) => string = (line) => line,
): readonly DiffLine[] {
  const [left, right] = [a.slice(0, MAX_LINES), b.slice(0, MAX_LINES)];
  const [keysA, keysB] = [left.map(sameAs), right.map(sameAs)];
  const lengths = commonLengths(keysA, keysB);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const isBoth = i < left.length && j < right.length && keysA[i] === keysB[j];
    const down = lengthAt(lengths, { i: i + 1, j, width: right.length });
    const along = lengthAt(lengths, { i, j: j + 1, width: right.length });
    if (isBoth) lines.push({ side: 'both', text: right[j] ?? '' });
    else if (j >= right.length || (i < left.length && down >= along)) lines.push({ side: 'a', text: left[i] ?? '' });
    else lines.push({ side: 'b', text: right[j] ?? '' });
    const side = lines.at(-1)?.side;
    if (side !== 'b') i += 1;
    if (side !== 'a') j += 1;
  }
  return lines;
}

interface Cell {
  readonly i: number;
  readonly j: number;
  readonly width: number;
}

const lengthAt = (lengths: Uint16Array, { i, j, width }: Cell): number => lengths[i * (width + 1) + j] ?? 0;

/** The length of the longest common subsequence from each pair of positions on. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const [down = 0, along = 0, both = 0] = [
        lengths[(i + 1) * width + j],
        lengths[i * width + j + 1],
        lengths[(i + 1) * width + j + 1],
      ];
      lengths[i * width + j] = a[i] === b[j] ? both + 1 : Math.max(down, along);
    }
  return lengths;
}

export interface Hunk {
  readonly lines: readonly DiffLine[];
  /** The number of common lines between this hunk and the next. */
  readonly skipped: number;
}

/** Groups differing lines into hunks with `around` context lines. */
export function hunksOf(lines: readonly DiffLine[], around: number): readonly Hunk[] {
  const isShown = lines.map((_, place) =>
    lines.slice(Math.max(0, place - around), place + around + 1).some(({ side }) => side !== 'both'),
  );
  const hunks: { lines: DiffLine[]; skipped: number }[] = [];
  for (const [place, line] of lines.entries()) {
    if (isShown[place] !== true) {
      const last = hunks.at(-1);
      if (last !== undefined) last.skipped += 1;
    } else if (isShown[place - 1] === true) hunks.at(-1)?.lines.push(line);
    else hunks.push({ lines: [line], skipped: 0 });
  }
  return hunks;
}
