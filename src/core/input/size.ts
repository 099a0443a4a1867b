/** Sizes as text: '512 KB', '2GB', or a number of bytes. A KB is 1,024 bytes. */

export type Size = number | string;

const FACTOR: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3, tb: 1024 ** 4 };

/** Returns bytes, or null if the value is not a size. */
export function parseSize(value: unknown): number | null {
  const bytes = typeof value === 'string' ? parseText(value) : value;
  if (typeof bytes !== 'number' || !Number.isFinite(bytes) || bytes < 0 || bytes > Number.MAX_SAFE_INTEGER) return null;
  return Math.round(bytes);
}

function parseText(text: string): number | null {
  const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)\s*([kmgt]?b)\s*$/i.exec(text) ?? [];
  return amount === undefined ? null : Number(amount) * (FACTOR[unit?.toLowerCase() ?? ''] ?? Number.NaN);
}
