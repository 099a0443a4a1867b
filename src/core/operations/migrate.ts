/**
 * The migration port over rows: memory runs it directly, SQLite in its thread. It enforces the one rule of a migration:
 * only the target of that very migration is written or cleared, and only while the migration is under way.
 */

import { sameJson } from '../input/same-json.ts';
import type {
  IssuedNumbers,
  MigrationBatch,
  MigrationPage,
  MigrationPart,
  MigrationPort,
  MigrationRow,
  MigrationState,
} from '../ports/migration.ts';
import { notMigrationTarget } from '../ports/migration.ts';

/** What a synchronous store provides for it. It finds and stores, and decides nothing. */
export interface MigrationRows {
  standing(): MigrationState | null;
  setStanding(standing: MigrationState | null, now: number): void;
  numbers(): IssuedNumbers;
  raise(numbers: IssuedNumbers): void;
  page(part: MigrationPart, after: string | null, limit: number): MigrationPage;
  put(part: MigrationPart, row: MigrationRow, now: number): void;
  removeRecord(key: string): void;
  clear(): void;
}

export type MigrationCall = keyof MigrationPort;

export function performMigration(
  migrationRows: MigrationRows,
  { name, argument }: { name: MigrationCall; argument: unknown },
  now: number,
): unknown {
  switch (name) {
    case 'standing':
      return migrationRows.standing();
    case 'stand':
      return stand(migrationRows, argument as { next: MigrationState | null; before: MigrationState | null }, now);
    case 'numbers':
      return migrationRows.numbers();
    case 'read': {
      const { part, after, limit } = argument as { part: MigrationPart; after: string | null; limit: number };
      return migrationRows.page(part, after, limit);
    }
    case 'write':
      return write(migrationRows, argument as MigrationBatch, now);
    case 'clear':
      return clear(migrationRows, argument as string);
  }
}

export const isMigrationRead = (name: MigrationCall): boolean =>
  name === 'standing' || name === 'numbers' || name === 'read';

function stand(
  migrationRows: MigrationRows,
  { next, before }: { next: MigrationState | null; before: MigrationState | null },
  now: number,
) {
  if (!sameJson(migrationRows.standing(), before)) return false;
  migrationRows.setStanding(next, now);
  return true;
}

function write(
  migrationRows: MigrationRows,
  { move, part, rows, gone, numbers, done }: MigrationBatch,
  now: number,
): void {
  const standing = stateIn(migrationRows, move, ['target', 'import']);
  migrationRows.raise(numbers);
  for (const key of gone) migrationRows.removeRecord(key);
  for (const row of rows) migrationRows.put(part, row, now);
  if (done !== null) migrationRows.setStanding({ ...standing, done }, now);
}

function clear(migrationRows: MigrationRows, move: string): void {
  stateIn(migrationRows, move, ['target']);
  migrationRows.clear();
}

function stateIn(migrationRows: MigrationRows, move: string, roles: readonly MigrationState['role'][]): MigrationState {
  const standing = migrationRows.standing();
  const isRight = standing?.move === move && roles.includes(standing.role) && standing.state === 'moving';
  if (!isRight) throw notMigrationTarget(move);
  return standing;
}
