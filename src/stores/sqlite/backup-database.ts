/**
 * Copies the database as a consistent snapshot while other connections write to it, and turns a copy into a store of
 * its own.
 *
 * Invariant: a copy exists under its final name only when it is complete and on the disk.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { backup } from '@photostructure/sqlite';
import { checkDatabase } from './check-database.ts';
import { OPENING_TIMEOUT_MS } from './engine/connection.ts';
import { checkSchema } from './engine/schema.ts';
import type { Database } from './engine/sqlite-database.ts';
import { firstRow, openDatabase, openReadOnly } from './engine/sqlite-database.ts';

export interface CopyProgress {
  readonly pages: number;
  readonly totalPages: number;
}

const PAGES_PER_STEP = 500;

/** Writes a snapshot of the database at `path` to the file `to`. */
export async function backupDatabase(
  path: string,
  to: string,
  onProgress: (progress: CopyProgress) => void = () => undefined,
): Promise<void> {
  const draft = `${to}.new`;
  rmSync(draft, { force: true });
  const db = openReadOnly(path, OPENING_TIMEOUT_MS);
  try {
    // An open read transaction: without it, every commit of another connection would restart the copy.
    db.exec('BEGIN');
    firstRow(db.prepare('SELECT seq FROM meta'));
    await backup(db, draft, {
      rate: PAGES_PER_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress({ pages: totalPages - remainingPages, totalPages }),
    });
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.close();
  }
  finishCopy(draft);
  renameSync(draft, to);
}

/** Makes the copy a single file without a write-ahead log, checks it as a reader would, and syncs it. */
function finishCopy(path: string): void {
  const db = openDatabase(path, OPENING_TIMEOUT_MS);
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    // The engines that have the original open do not use the copy.
    db.exec('DELETE FROM peers');
  } finally {
    db.close();
  }
  checkDatabase(path);
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** More tokens than a store can give out in a second. The numbers stay safe integers beyond the year 2200. */
const TOKENS_PER_SECOND = 2 ** 20;

/**
 * Raises tokens and record versions above all that were ever given out, including those given out by the original after
 * the copy was made, and by other copies. The new values follow the clock, which no store outruns.
 * Returns the highest token that counts as given out.
 */
export function raiseEpoch(path: string, now: number): number {
  const db = openDatabase(path, OPENING_TIMEOUT_MS);
  try {
    checkSchema(db, path);
    const [token, version] = numbersOf(db);
    const floor = Math.floor(now / 1_000) * TOKENS_PER_SECOND;
    const raised = Math.max(floor, token + TOKENS_PER_SECOND);
    db.prepare('UPDATE meta SET token = ?, version = ?').run(raised, Math.max(floor, version + TOKENS_PER_SECOND));
    return raised;
  } finally {
    db.close();
  }
}

function numbersOf(db: Database): readonly [token: number, version: number] {
  const row = firstRow<readonly [number, number]>(db.prepare('SELECT token, version FROM meta'));
  if (row === undefined) throw new Error('the table meta has no row');
  return row;
}
