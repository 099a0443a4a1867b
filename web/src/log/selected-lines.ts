/** The selected lines in the URL: `#L120`, or `#L120-L130`. */

export interface LineRange {
  readonly from: number;
  readonly to: number;
}

/** More lines need the download. */
export const MAX_COPIED_LINES = 10_000;

export function parseRange(hash: string): LineRange | null {
  const [, first, last] = /^#L(\d{1,12})(?:-L(\d{1,12}))?$/.exec(hash) ?? [];
  if (first === undefined) return null;
  const [a, b] = [Number(first), Number(last ?? first)];
  return { from: Math.max(1, Math.min(a, b)), to: Math.max(1, a, b) };
}

export function rangeHash({ from, to }: LineRange): string {
  return from === to ? `#L${from}` : `#L${from}-L${to}`;
}
