/** Two stores row by row: what differs, and the counts and hashes by which one sees that nothing does. */
import { createHash, type Hash } from 'node:crypto';
import { sameJson } from '../../core/input/same-json.ts';
import type { MigrationPort, MovedPart, MovedRow } from '../../core/ports/migration.ts';
import { keyOrder } from '../../core/ports/migration.ts';

export const PAGE = 200;

export interface PartSum {
  readonly part: MovedPart;
  readonly rows: number;
  readonly sha256: string;
}

export interface Compared {
  readonly source: PartSum;
  readonly target: PartSum;
  /** Rows of the source that the target has not, or otherwise; and keys that only the target has. */
  readonly missing: readonly MovedRow[];
  readonly extra: readonly string[];
}

export type Wanted = (part: MovedPart, row: MovedRow) => boolean;

export async function* rowsOf(
  migration: MigrationPort,
  part: MovedPart,
  from: string | null = null,
): AsyncGenerator<MovedRow> {
  for (let after = from; ; ) {
    const { rows, next } = await migration.read(part, after, PAGE);
    yield* rows;
    if (next === null) return;
    after = next;
  }
}

export interface Comparing {
  /** Of the source; what is left behind is no difference. */
  readonly isWanted: Wanted;
  /** Told now and then, and at the end, how many have been read. */
  onRows(rows: number): void;
}

export async function compare(
  part: MovedPart,
  movers: { from: MigrationPort; to: MigrationPort },
  { isWanted, onRows }: Comparing,
): Promise<Compared> {
  const sums = { source: new Sum(part), target: new Sum(part) };
  const [missing, extra]: [MovedRow[], string[]] = [[], []];
  const there = rowsOf(movers.to, part);
  let other = await nextOf(there);
  let rows = 0;
  for await (const row of rowsOf(movers.from, part)) {
    rows += 1;
    if (rows % PAGE === 0) onRows(rows);
    if (!isWanted(part, row)) continue;
    sums.source.add(row);
    for (; other !== null && keyOrder(part, other.key, row.key) < 0; other = await nextOf(there)) {
      sums.target.add(other);
      extra.push(other.key);
    }
    const isThere = other?.key === row.key;
    if (!isThere || !sameJson(row.value, other?.value)) missing.push(row);
    if (isThere && other !== null) {
      sums.target.add(other);
      other = await nextOf(there);
    }
  }
  for (; other !== null; other = await nextOf(there)) {
    sums.target.add(other);
    extra.push(other.key);
  }
  onRows(rows);
  return { source: sums.source.total, target: sums.target.total, missing, extra };
}

async function nextOf(rows: AsyncGenerator<MovedRow>): Promise<MovedRow | null> {
  const { value, done } = await rows.next();
  return done === true ? null : value;
}

class Sum {
  readonly #part: MovedPart;
  readonly #hash: Hash = createHash('sha256');
  #rows = 0;

  constructor(part: MovedPart) {
    this.#part = part;
  }

  add({ key, value }: MovedRow): void {
    this.#rows += 1;
    this.#hash.update(`${key}\n${canonical(value)}\n`);
  }

  get total(): PartSum {
    return { part: this.#part, rows: this.#rows, sha256: this.#hash.copy().digest('hex') };
  }
}

/** JSON with its keys in one order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
