/** Durations as text: '90s', '10m', '1h30m', '7d', or a number of milliseconds. */

export type Duration = number | string;

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const WHOLE = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d|w))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g;

/** A thousand years: longer is a mistake, and this is far below the largest safe integer. */
export const MAX_DURATION_MS = 1_000 * 365 * 86_400_000;

/** Returns milliseconds, or null if the value is not a duration. */
export function parseDuration(value: unknown): number | null {
  const ms = typeof value === 'string' ? parseText(value.replaceAll(' ', '')) : value;
  if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0 || ms > MAX_DURATION_MS) return null;
  return Math.round(ms);
}

function parseText(text: string): number | null {
  if (!WHOLE.test(text)) return null;
  return [...text.matchAll(PART)].reduce(
    (total, [, amount, unit]) => total + Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN),
    0,
  );
}
