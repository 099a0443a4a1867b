/**
 * A copy of the database while others write to it, as it is at one moment; and the one step that makes a copy a store
 * of its own.
 *
 * Invariant: the copy stands under its name whole and on the disk, or not at all.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { backup } from '@photostructure/sqlite';
import { checkDatabase } from './check-database.ts';
import { OPENING_TIMEOUT_MS } from './engine/connection.ts';
import { checkSchema } from './engine/schema.ts';
import type { Database } from './engine/sqlite-database.ts';
import { firstRow, openDatabase, openToLook } from './engine/sqlite-database.ts';

export interface CopyProgress {
  readonly pages: number;
  readonly totalPages: number;
}

const PAGES_A_STEP = 500;

export async function backupDatabase(
  path: string,
  to: string,
  onProgress: (progress: CopyProgress) => void = () => undefined,
): Promise<void> {
  const draft = `${to}.new`;
  rmSync(draft, { force: true });
  const db = openToLook(path, OPENING_TIMEOUT_MS);
  try {
    // Held open: without it every commit of another connection would make the copy begin anew.
    db.exec('BEGIN');
    firstRow(db.prepare('SELECT seq FROM meta'));
    await backup(db, draft, {
      rate: PAGES_A_STEP,
      progress: ({ totalPages, remainingPages }) => onProgress({ pages: totalPages - remainingPages, totalPages }),
    });
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
    db.close();
  }
  makeWhole(draft);
  renameSync(draft, to);
}

/** One file without a log beside it, looked at once as a reader will, and on the disk. */
function makeWhole(path: string): void {
  const db = openDatabase(path, OPENING_TIMEOUT_MS);
  try {
    db.exec('PRAGMA journal_mode = DELETE');
    // Who had the original open has nothing to do with the copy.
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

/** More tokens a second than any store gives out, for as long as the numbers last (beyond the year 2200). */
const TOKENS_A_SECOND = 2 ** 20;

/**
 * Raises the numbers by which others tell old from new above all that were ever given, also after the copy was made and
 * by another copy: they are counted from the clock, which no store outruns. Answers the last token that counts as given.
 */
export function raiseEpoch(path: string, now: number): number {
  const db = openDatabase(path, OPENING_TIMEOUT_MS);
  try {
    checkSchema(db, path);
    const [token, version] = numbersOf(db);
    const floor = Math.floor(now / 1_000) * TOKENS_A_SECOND;
    const raised = Math.max(floor, token + TOKENS_A_SECOND);
    db.prepare('UPDATE meta SET token = ?, version = ?').run(raised, Math.max(floor, version + TOKENS_A_SECOND));
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
