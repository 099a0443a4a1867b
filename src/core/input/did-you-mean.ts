const MIN_PREFIX = 3;

/** Returns a suggestion with the nearest known word, or the only one that begins with the value; else an empty text. */
export function didYouMean(value: unknown, candidates: readonly string[]): string {
  if (typeof value !== 'string') return '';
  const given = value.toLowerCase();
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(given, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  const longer = candidates.filter((each) => each.toLowerCase().startsWith(given));
  const only = longer.length === 1 && wordLength(given) >= MIN_PREFIX ? longer[0] : undefined;
  const found = only ?? (near !== undefined && near.distance <= maxDistance(given) ? near.candidate : undefined);
  return found === undefined ? '' : `; did you mean ${found}?`;
}

/** A word of three letters with two wrong ones resembles nothing. */
function maxDistance(given: string): number {
  return wordLength(given) <= MIN_PREFIX ? 1 : Math.max(2, Math.floor(given.length / 3));
}

const wordLength = (given: string): number => given.replace(/^-+/, '').length;

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
