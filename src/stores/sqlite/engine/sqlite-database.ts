/** The few words of the SQLite package that this store uses, with what they are here: rows are arrays. */
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';
import { DatabaseSync } from '@photostructure/sqlite';

export type Database = DatabaseSyncInstance;
export type Statement = StatementSyncInstance;

export function openDatabase(path: string, busyTimeoutMs: number): Database {
  return new DatabaseSync(path, { returnArrays: true, timeout: busyTimeoutMs, enableForeignKeyConstraints: false });
}

/** For whoever only looks: it tidies nothing up, also not when it is the last to close the file. */
export function openToLook(path: string, busyTimeoutMs: number): Database {
  return new DatabaseSync(path, { returnArrays: true, timeout: busyTimeoutMs, readOnly: true });
}

/** Runs a statement of whose changes nobody asks the number: `run` makes an object of it, which takes half the time. */
export function execute(statement: Statement, ...values: readonly unknown[]): void {
  statement.get(...values);
}

export function allRows<Row>(statement: Statement, ...values: readonly unknown[]): readonly Row[] {
  return statement.all(...values) as readonly Row[];
}

export function firstRow<Row>(statement: Statement, ...values: readonly unknown[]): Row | undefined {
  return statement.get(...values) as Row | undefined;
}
