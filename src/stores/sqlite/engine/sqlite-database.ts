/** The part of the SQLite package that this store uses, with rows as arrays. */
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { DatabaseSync } from '@photostructure/sqlite';

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

export function openDatabase(path: string, busyTimeoutMs: number): Database {
  return new DatabaseSync(path, { returnArrays: true, timeout: busyTimeoutMs, enableForeignKeyConstraints: false });
}

/** Opens the database read-only; closing it does not run a checkpoint. */
export function openReadOnly(path: string, busyTimeoutMs: number): Database {
  return new DatabaseSync(path, { returnArrays: true, timeout: busyTimeoutMs, readOnly: true });
}

/** Runs a statement without counting its changes: `run` returns them as an object, which takes half the time. */
export function execute(statement: Statement, ...values: readonly unknown[]): void {
  statement.get(...values);
}

export function allRows<Row>(statement: Statement, ...values: readonly unknown[]): readonly Row[] {
  return statement.all(...values) as readonly Row[];
}

export function firstRow<Row>(statement: Statement, ...values: readonly unknown[]): Row | undefined {
  return statement.get(...values) as Row | undefined;
}
