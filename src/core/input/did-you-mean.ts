/** Returns a suggestion with the nearest known word, or an empty text. */
export function didYouMean(value: unknown, candidates: readonly string[]): string {
  if (typeof value !== 'string') return '';
  const near = candidates
    .map((candidate) => ({ candidate, distance: editDistance(value.toLowerCase(), candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return near !== undefined && near.distance <= Math.max(2, Math.floor(value.length / 3))
    ? `; did you mean ${near.candidate}?`
    : '';
}

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
