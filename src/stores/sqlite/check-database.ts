/**
 * Whether a database file is whole, and what it is: for `doctor`, and for whoever has just copied one.
 *
 * Invariant: changes nothing, also not a database that is damaged.
 */
import { existsSync, statSync } from 'node:fs';
import { LonghaulError } from '../../core/ports/errors.ts';
import { checkHeader, OLDEST_SQLITE, OPENING_TIMEOUT_MS } from './engine/connection.ts';
import { isOurs, SCHEMA_VERSION } from './engine/schema.ts';
import type { Database } from './engine/sqlite-database.ts';
import { allRows, firstRow, openToLook } from './engine/sqlite-database.ts';
import { isBusy } from './engine/sqlite-problem.ts';

export interface DatabaseFacts {
  readonly sqlite: string;
  readonly oldestSqlite: string;
  readonly journalMode: string;
  readonly schema: number;
  readonly newestSchema: number;
  readonly bytes: number;
  readonly logBytes: number;
  /** The clock, when the store was last written to. */
  readonly seenAt: number;
}

/** Throws `data-corrupt` with what was found, `store-incompatible` for a file that is not a store of a known schema, or `store-unavailable` when somebody holds the file. */
export function checkDatabase(path: string): DatabaseFacts {
  if (!existsSync(path)) throw damaged(path, 'it is not there');
  const bytes = statSync(path).size;
  if (bytes === 0) throw damaged(path, 'it is empty');
  checkHeader(path);
  try {
    return look(path, bytes);
  } catch (error) {
    if (error instanceof LonghaulError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    if (isBusy(error)) throw new LonghaulError('store-unavailable', `${path}: ${words}`, { cause: error });
    throw damaged(path, words);
  }
}

function look(path: string, bytes: number): DatabaseFacts {
  return looking(path, (db) => {
    const problems = allRows<readonly [string]>(db.prepare('PRAGMA quick_check(5)')).map(([words]) => words);
    if (problems.join() !== 'ok') throw damaged(path, problems.join('; '));
    if (!isOurs(db)) throw damaged(path, 'it is a database, but none of Longhaul');
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

const text = (db: Database, question: string): string =>
  String(firstRow<readonly [string | number]>(db.prepare(question))?.[0] ?? '');

function damaged(path: string, words: string): LonghaulError {
  return new LonghaulError('data-corrupt', `${path} is damaged: ${words}`);
}

type JobFacts = readonly [id: string, state: string, attempt: number];

/** State and attempt of each of these jobs, in their order; null for one that is not there. */
export function lookUpJobs(path: string, ids: readonly string[]) {
  return looking(path, (db) => {
    const find = db.prepare('SELECT id, state, attempt FROM jobs WHERE id = ?');
    return ids.map((each) => {
      const row = firstRow<JobFacts>(find, each);
      return row === undefined ? null : { id: row[0], state: row[1], attempt: row[2] };
    });
  });
}

export function lookUpRecords(path: string, kind: string) {
  return looking(path, (db) => {
    const rows = allRows<readonly [string, string]>(db.prepare('SELECT key, value FROM records WHERE kind = ?'), kind);
    return rows.map(([key, value]) => ({ key, value }));
  });
}

export function looking<T>(path: string, look: (db: Database) => T): T {
  const db = openToLook(path, OPENING_TIMEOUT_MS);
  try {
    return look(db);
  } finally {
    db.close();
  }
}
