/**
 * Compares the ratios of a run with those of the kept figures (kept-figures.mjs).
 *
 * Rates differ between machines and days, ratios in one run hardly. A ratio moved if its range over the rounds lies outside
 * the kept range; both are at least a tenth wide in each direction, because a row of one round has no range.
 */
const leastShare = 0.1;

/** Returns a row's name: several rows differ only in their peer. Which peer is the fastest may change. */
const keyOf = ({ row, against }) => `${row}, against ${/\((the fastest.*)\)$/.exec(against)?.[1] ?? against}`;

const compared = (rows) => rows.filter(({ ratio, void: reason }) => ratio !== null && reason === null);

/** Returns { moved, missing }: rows that moved by more than the spread, and rows without a kept ratio. */
export function compareRatios(keptRows, rows) {
  const kept = new Map(compared(keptRows).map((row) => [keyOf(row), row]));
  const pairs = compared(rows).map((row) => ({ key: keyOf(row), row, before: kept.get(keyOf(row)) }));
  return {
    compared: pairs.filter(({ before }) => before).length,
    missing: pairs.filter(({ before }) => !before).map(({ key }) => key),
    moved: pairs.filter(({ before }) => before).flatMap(movedRow),
  };
}

function movedRow({ key, row, before }) {
  const [low, high] = widened(before.ratio, before.range);
  const [nowLow, nowHigh] = widened(row.ratio, row.range);
  if (nowLow <= high && nowHigh >= low) return [];
  const isHigherBetter = row.unit === 'jobs/s';
  const isBetter = row.ratio > before.ratio === isHigherBetter;
  return [{ key, before: before.ratio, now: row.ratio, isBetter }];
}

const widened = (ratio, [low, high]) => [
  Math.min(low, ratio * (1 - leastShare)),
  Math.max(high, ratio * (1 + leastShare)),
];

/** Returns the lines of the comparison for the terminal. */
export function checkLines({ compared: count, moved, missing }) {
  const lines = moved.map(
    ({ key, before, now, isBetter }) =>
      `  ${key}: ${before.toFixed(2)} × kept, ${now.toFixed(2)} × now (${isBetter ? 'better' : 'WORSE'})`,
  );
  return [
    `Ratios compared with the kept ones: ${count}. Moved by more than the spread: ${moved.length}.`,
    ...lines,
    ...(missing.length > 0 ? [`Without a kept ratio: ${missing.join('; ')}.`] : []),
    ...(moved.length > 0 ? ['A change that is meant: keep the new figures with --write.'] : []),
  ];
}
