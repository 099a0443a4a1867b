/** The generic adapter: any client that can run a statement with parameters, such as Drizzle, Prisma or Knex. */
import { badInput } from '../../core/ports/errors.ts';
import type { AdapterOptions, OutboxAdapter, RunSql, SqlDialect } from './outbox-adapter.ts';
import { tableName } from './outbox-schema.ts';

/** Options of `sqlOutbox`. */
export interface SqlOutboxOptions extends AdapterOptions {
  /** The SQL that the database understands. It decides the placeholders: `$1` or `?`. */
  readonly dialect: SqlDialect;
}

const POLL_MS = 500;

/**
 * Creates the adapter of an outbox from a function that runs one statement outside any transaction. `add` takes such a
 * function too, which runs its statement inside the transaction of the user. Each placeholder occurs once, in order.
 */
export function sqlOutbox(run: RunSql, options: SqlOutboxOptions): OutboxAdapter<RunSql, Promise<void>> {
  const { dialect } = options ?? {};
  if (typeof run !== 'function')
    throw badInput('sqlOutbox', [{ path: '', message: 'needs a function (sql, parameters) => Promise<rows>' }]);
  if (dialect !== 'postgres' && dialect !== 'sqlite')
    throw badInput('sqlOutbox', [{ path: 'dialect', message: 'must be postgres or sqlite' }]);
  const written = (sql: string): string => (dialect === 'sqlite' ? sql.replaceAll(/\$\d+/g, '?') : sql);
  return {
    dialect,
    table: tableName(options),
    pollMs: POLL_MS,
    async insert(tx, { sql, parameters }) {
      await tx(written(sql), parameters);
    },
    async query({ sql, parameters }) {
      const rows = await run(written(sql), parameters);
      if (Array.isArray(rows)) return rows;
      throw badInput('sqlOutbox', [{ path: '', message: 'the function must resolve to a list of rows' }]);
    },
    async execute(statements) {
      for (const sql of statements) await run(sql, []);
    },
    follow: () => undefined,
    close: async () => undefined,
  };
}
