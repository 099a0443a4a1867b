/** Compares two stores row by row: differences, counts and hashes. */
import { createHash, type Hash } from 'node:crypto';
import { sameJson } from '../../core/input/same-json.ts';
import type { MigrationPart, MigrationPort, MigrationRow } from '../../core/ports/migration.ts';
import { keyOrder } from '../../core/ports/migration.ts';

export const PAGE = 200;

export interface PartDigest {
  readonly part: MigrationPart;
  readonly rows: number;
  readonly sha256: string;
}

export interface Compared {
  readonly source: PartDigest;
  readonly target: PartDigest;
  /** Rows of the source that the target lacks or has with other values; and keys that only the target has. */
  readonly missing: readonly MigrationRow[];
  readonly extra: readonly string[];
}

export type RowFilter = (part: MigrationPart, row: MigrationRow) => boolean;

export async function* rowsOf(
  migration: MigrationPort,
  part: MigrationPart,
  from: string | null = null,
): AsyncGenerator<MigrationRow> {
  for (let after = from; ; ) {
    const { rows, next } = await migration.read(part, after, PAGE);
    yield* rows;
    if (next === null) return;
    after = next;
  }
}

export interface CompareOptions {
  /** Selects the rows of the source; jobs left behind are not differences. */
  readonly isWanted: RowFilter;
  /** Called periodically and at the end with the number of rows read. */
  onRows(rows: number): void;
}

export async function compare(
  part: MigrationPart,
  ports: { from: MigrationPort; to: MigrationPort },
  { isWanted, onRows }: CompareOptions,
): Promise<Compared> {
  const digests = { source: new Digest(part), target: new Digest(part) };
  const [missing, extra]: [MigrationRow[], string[]] = [[], []];
  const targetRows = rowsOf(ports.to, part);
  let other = await nextOf(targetRows);
  let rows = 0;
  for await (const row of rowsOf(ports.from, part)) {
    rows += 1;
    if (rows % PAGE === 0) onRows(rows);
    if (!isWanted(part, row)) continue;
    digests.source.add(row);
    for (; other !== null && keyOrder(part, other.key, row.key) < 0; other = await nextOf(targetRows)) {
      digests.target.add(other);
      extra.push(other.key);
    }
    const isThere = other?.key === row.key;
    if (!isThere || !sameJson(row.value, other?.value)) missing.push(row);
    if (isThere && other !== null) {
      digests.target.add(other);
      other = await nextOf(targetRows);
    }
  }
  for (; other !== null; other = await nextOf(targetRows)) {
    digests.target.add(other);
    extra.push(other.key);
  }
  onRows(rows);
  return { source: digests.source.total, target: digests.target.total, missing, extra };
}

async function nextOf(rows: AsyncGenerator<MigrationRow>): Promise<MigrationRow | null> {
  const { value, done } = await rows.next();
  return done === true ? null : value;
}

class Digest {
  readonly #part: MigrationPart;
  readonly #hash: Hash = createHash('sha256');
  #rows = 0;

  constructor(part: MigrationPart) {
    this.#part = part;
  }

  add({ key, value }: MigrationRow): void {
    this.#rows += 1;
    this.#hash.update(`${key}\n${canonical(value)}\n`);
  }

  get total(): PartDigest {
    return { part: this.#part, rows: this.#rows, sha256: this.#hash.copy().digest('hex') };
  }
}

/** JSON with sorted keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}
