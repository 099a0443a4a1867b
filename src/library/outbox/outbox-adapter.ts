/** How an outbox reaches the database of its user. Each adapter implements it for one kind of database client. */

/** A parameter of a statement. */
export type SqlValue = string | number | null;

/** A row of an answer, by column. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The SQL that the database understands. */
export type SqlDialect = 'postgres' | 'sqlite';

/** A function that runs one statement and resolves to its rows. */
export type RunSql = (sql: string, parameters: readonly SqlValue[]) => Promise<readonly SqlRow[]>;

/** A statement with its parameters. Each placeholder occurs once, in the order of the parameters. */
export interface Statement {
  readonly sql: string;
  readonly parameters: readonly SqlValue[];
}

/**
 * A database with an outbox table: `sqliteOutbox`, `pgOutbox` or `sqlOutbox` creates it.
 *
 * `Tx` is what `add` takes as the transaction. `Written` is void if the database is synchronous, else a promise.
 */
export interface OutboxAdapter<Tx, Written extends void | Promise<void>> {
  /** The SQL that the database understands. */
  readonly dialect: SqlDialect;
  /** The name of the table. */
  readonly table: string;
  /** How often the relay looks for rows that it was not notified of. */
  readonly pollMs: number;
  /** Runs an INSERT inside the transaction of the user. */
  insert(tx: Tx, statement: Statement): Written;
  /** Runs a statement of the relay, in a transaction of its own. Throws `DatabaseBusy` if the user's is open. */
  query(statement: Statement): Promise<readonly SqlRow[]>;
  /** Runs statements without parameters, one after another. */
  execute(statements: readonly string[]): Promise<void>;
  /** Calls back when rows may have been committed, from now on until `close`. */
  follow(onRows: () => void): void;
  /** Releases what the adapter opened itself. Idempotent. */
  close(): Promise<void>;
}

/** The connection is inside a transaction of the user: the relay must not run a statement there. */
export class DatabaseBusy extends Error {}

/** Options of every adapter. */
export interface AdapterOptions {
  /** The name of the table, with its schema if it needs one. Default: `longhaul_outbox`. */
  readonly table?: string;
}
