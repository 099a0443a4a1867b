/**
 * The adapter for SQLite: `node:sqlite`, better-sqlite3 and @photostructure/sqlite have the methods that it uses.
 *
 * Invariant: no statement of the relay runs inside a transaction of the user. The connection is shared, so the relay
 * would see rows that are rolled back later.
 */
import { badInput } from '../../core/ports/errors.ts';
import type { AdapterOptions, OutboxAdapter, SqlRow, SqlValue } from './outbox-adapter.ts';
import { DatabaseBusy } from './outbox-adapter.ts';
import { tableName } from './outbox-schema.ts';

/** The part of a SQLite connection that an outbox uses. */
export interface SqliteDatabase {
  prepare(sql: string): {
    run(...parameters: SqlValue[]): unknown;
    all(...parameters: SqlValue[]): unknown[];
  };
  exec(sql: string): unknown;
  /** Whether a transaction is open: `node:sqlite` and @photostructure/sqlite. */
  readonly isTransaction?: boolean;
  /** The same in better-sqlite3. */
  readonly inTransaction?: boolean;
}

const POLL_MS = 100;
const OPEN = 'this connection has an open transaction: call this before it begins or after its end';

/** Creates the adapter of an outbox in a SQLite database. `add` is synchronous and takes a connection to the same file. */
export function sqliteOutbox(db: SqliteDatabase, options: AdapterOptions = {}): OutboxAdapter<SqliteDatabase, void> {
  if (typeof db?.prepare !== 'function' || typeof db.exec !== 'function')
    throw badInput('sqliteOutbox', [
      { path: '', message: 'needs an open connection of node:sqlite or better-sqlite3' },
    ]);
  return {
    dialect: 'sqlite',
    table: tableName(options),
    pollMs: POLL_MS,
    insert(tx, { sql, parameters }) {
      tx.prepare(anonymous(sql)).run(...parameters);
    },
    async query({ sql, parameters }) {
      const isRead = sql.startsWith('SELECT');
      return inTransaction(db, isRead ? 'BEGIN' : 'BEGIN IMMEDIATE', () => {
        return db.prepare(anonymous(sql)).all(...parameters) as SqlRow[];
      });
    },
    async execute(statements) {
      inTransaction(db, 'BEGIN IMMEDIATE', () => statements.forEach((sql) => void db.exec(sql)));
    },
    follow: () => undefined,
    close: async () => undefined,
  };
}

/** `$1`, `$2` in order become `?`: only those are positional in every one of the three. */
const anonymous = (sql: string): string => sql.replaceAll(/\$\d+/g, '?');

/** BEGIN itself fails inside another transaction, also where the connection does not tell whether one is open. */
function inTransaction<T>(db: SqliteDatabase, begin: string, work: () => T): T {
  if (db.isTransaction === true || db.inTransaction === true) throw new DatabaseBusy(OPEN);
  db.exec(begin);
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}
