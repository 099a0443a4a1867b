/**
 * Checks whether a database file is intact and returns its facts. Used by `doctor` and after a copy.
 *
 * Invariant: it changes nothing, not even in a damaged database.
 */
import { existsSync, statSync } from 'node:fs';
import { LonghaulError } from '../../core/ports/errors.ts';
import { checkHeader, OLDEST_SQLITE, OPENING_TIMEOUT_MS } from './engine/connection.ts';
import { isOurs, SCHEMA_VERSION } from './engine/schema.ts';
import type { Database } from './engine/sqlite-database.ts';
import { allRows, firstRow, openReadOnly } from './engine/sqlite-database.ts';
import { isBusy } from './engine/sqlite-problem.ts';

export interface DatabaseFacts {
  readonly sqlite: string;
  readonly oldestSqlite: string;
  readonly journalMode: string;
  readonly schema: number;
  readonly newestSchema: number;
  readonly bytes: number;
  readonly logBytes: number;
  /** The clock at the last write to the store. */
  readonly seenAt: number;
}

/**
 * Throws `data-corrupt` with the damage found, `store-incompatible` for a file that is not a store of a known schema, or
 * `store-unavailable` when another process has locked the file.
 */
export function checkDatabase(path: string): DatabaseFacts {
  if (!existsSync(path)) throw damaged(path, 'the file is missing');
  const bytes = statSync(path).size;
  if (bytes === 0) throw damaged(path, 'the file is empty');
  checkHeader(path);
  try {
    return readFacts(path, bytes);
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (isBusy(error)) throw new LonghaulError('store-unavailable', `${path}: ${message}`, { cause: error });
    throw damaged(path, message);
  }
}

function readFacts(path: string, bytes: number): DatabaseFacts {
  return readDatabase(path, (db) => {
    const problems = allRows<readonly [string]>(db.prepare('PRAGMA quick_check(5)')).map(([problem]) => problem);
    if (problems.join() !== 'ok') throw damaged(path, problems.join('; '));
    if (!isOurs(db)) throw damaged(path, 'it is a SQLite database, but not a Longhaul store');
    return {
      sqlite: text(db, 'SELECT sqlite_version()'),
      oldestSqlite: OLDEST_SQLITE,
      journalMode: text(db, 'PRAGMA journal_mode'),
      schema: Number(text(db, 'PRAGMA user_version')),
      newestSchema: SCHEMA_VERSION,
      bytes,
      logBytes: statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
      seenAt: Number(text(db, 'SELECT seen_at FROM meta')),
    };
  });
}

const text = (db: Database, sql: string): string =>
  String(firstRow<readonly [string | number]>(db.prepare(sql))?.[0] ?? '');

function damaged(path: string, reason: string): LonghaulError {
  return new LonghaulError('data-corrupt', `${path} is damaged: ${reason}`);
}

type JobFacts = readonly [id: string, state: string, attempt: number];

/** Returns state and attempt of each job, in the order of `ids`; null for a job that does not exist. */
export function findStoredJobs(path: string, ids: readonly string[]) {
  return readDatabase(path, (db) => {
    const find = db.prepare('SELECT id, state, attempt FROM jobs WHERE id = ?');
    return ids.map((each) => {
      const row = firstRow<JobFacts>(find, each);
      return row === undefined ? null : { id: row[0], state: row[1], attempt: row[2] };
    });
  });
}

export function listStoredRecords(path: string, kind: string) {
  return readDatabase(path, (db) => {
    const rows = allRows<readonly [string, string]>(db.prepare('SELECT key, value FROM records WHERE kind = ?'), kind);
    return rows.map(([key, value]) => ({ key, value }));
  });
}

/** Calls `read` with a read-only connection, and closes the connection afterwards. */
export function readDatabase<T>(path: string, read: (db: Database) => T): T {
  const db = openReadOnly(path, OPENING_TIMEOUT_MS);
  try {
    return read(db);
  } finally {
    db.close();
  }
}
