/** The lines that the address points at: `#L120`, or `#L120-L130`. */

export interface Chosen {
  readonly from: number;
  readonly to: number;
}

/** More than this is for the download. */
export const MOST_COPIED = 10_000;

export function readChosen(hash: string): Chosen | null {
  const [, first, last] = /^#L(\d{1,12})(?:-L(\d{1,12}))?$/.exec(hash) ?? [];
  if (first === undefined) return null;
  const [a, b] = [Number(first), Number(last ?? first)];
  return { from: Math.max(1, Math.min(a, b)), to: Math.max(1, a, b) };
}

export function hashOf({ from, to }: Chosen): string {
  return from === to ? `#L${from}` : `#L${from}-L${to}`;
}
