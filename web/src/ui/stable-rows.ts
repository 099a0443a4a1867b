/**
 * Rows that keep their order while the pointer is over them: their content is updated, but no row is added, removed
 * or moved until the pointer leaves. Pure.
 */
export interface StableRows<T> {
  readonly rows: readonly T[];
  /** Number of rows that arrived meanwhile. */
  readonly waiting: number;
}

/** `held` are the rows at the time the pointer entered; null while it is elsewhere. */
export function stableRows<T>(
  fresh: readonly T[],
  held: readonly T[] | null,
  keyOf: (row: T) => string,
): StableRows<T> {
  if (held === null) return { rows: fresh, waiting: 0 };
  const known = new Map(fresh.map((row) => [keyOf(row), row]));
  const shown = new Set(held.map(keyOf));
  return {
    rows: held.map((row) => known.get(keyOf(row)) ?? row),
    waiting: fresh.filter((row) => !shown.has(keyOf(row))).length,
  };
}
