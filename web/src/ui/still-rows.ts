/**
 * Rows that stand still while the pointer is over them: what they say stays fresh, but none comes, goes or changes its
 * place until the pointer has left. Pure.
 */
export interface StillRows<T> {
  readonly rows: readonly T[];
  /** How many have come since. */
  readonly waiting: number;
}

/** `held` is what was shown when the pointer came; null while it is elsewhere. */
export function stillRows<T>(fresh: readonly T[], held: readonly T[] | null, keyOf: (row: T) => string): StillRows<T> {
  if (held === null) return { rows: fresh, waiting: 0 };
  const known = new Map(fresh.map((row) => [keyOf(row), row]));
  const shown = new Set(held.map(keyOf));
  return {
    rows: held.map((row) => known.get(keyOf(row)) ?? row),
    waiting: fresh.filter((row) => !shown.has(keyOf(row))).length,
  };
}
