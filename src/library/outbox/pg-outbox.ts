/**
 * The adapter for `pg`. The relay uses one connection for its statements and for LISTEN. When the connection is lost,
 * the next statement opens another, which listens again; the poll of the relay finds what was notified meanwhile.
 */
import { badInput, LonghaulError } from '../../core/ports/errors.ts';
import { withDeadline } from '../../worker/outcome/deadline.ts';
import type { AdapterOptions, OutboxAdapter, SqlRow, SqlValue } from './outbox-adapter.ts';
import { tableName } from './outbox-schema.ts';

/** The part of a `pg` client that `add` uses: a client of a pool, or a client of its own. */
export interface PgTransaction {
  query(sql: string, parameters: SqlValue[]): Promise<{ readonly rows: unknown[] }>;
}

/** A client that a pool lends. */
export interface PgPoolClient extends PgTransaction {
  on(event: 'notification' | 'error' | 'end', listener: (detail?: unknown) => void): unknown;
  off(event: 'notification' | 'error' | 'end', listener: (detail?: unknown) => void): unknown;
  release(error?: Error | boolean): void;
}

/** The part of a `pg.Pool` that an outbox uses. */
export interface PgPool {
  connect(): Promise<PgPoolClient>;
}

interface OwnPool extends PgPool {
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}
interface PgModule {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => OwnPool;
}

const POLL_MS = 1_000;
const STATEMENT_DEADLINE_MS = 30_000;

/** Creates the adapter of an outbox in PostgreSQL, from a `pg.Pool` or from an address (`postgres://…`), which needs `pg`. */
export function pgOutbox(
  pool: PgPool | string,
  options: AdapterOptions = {},
): OutboxAdapter<PgTransaction, Promise<void>> {
  if (typeof pool !== 'string' && typeof pool?.connect !== 'function')
    throw badInput('pgOutbox', [
      { path: '', message: 'needs a pg.Pool, or an address such as postgres://host/database' },
    ]);
  const table = tableName(options);
  const link = new PgLink(pool, table);
  return {
    dialect: 'postgres',
    table,
    pollMs: POLL_MS,
    async insert(tx, { sql, parameters }) {
      await tx.query(sql, [...parameters]);
    },
    query: ({ sql, parameters }) => link.query(sql, parameters),
    async execute(statements) {
      for (const sql of statements) await link.query(sql, []);
    },
    follow: (onRows) => link.follow(onRows),
    close: () => link.close(),
  };
}

/** Loads `pg`, an optional peer. */
export async function loadPg(load: () => Promise<unknown> = () => import('pg' as string)): Promise<PgModule> {
  try {
    const loaded = (await load()) as { default?: PgModule } & PgModule;
    return loaded.default ?? loaded;
  } catch (cause) {
    throw new LonghaulError('bad-input', 'an outbox in PostgreSQL needs the package pg: npm install pg', { cause });
  }
}

/** The connection of a relay, opened when it is needed. */
class PgLink {
  readonly #given: PgPool | string;
  readonly #table: string;
  #own: Promise<OwnPool> | null = null;
  #client: Promise<PgPoolClient> | null = null;
  /** Ends the present connection. */
  #drop: () => void = () => undefined;
  #onRows: (() => void) | null = null;

  constructor(given: PgPool | string, table: string) {
    this.#given = given;
    this.#table = table;
  }

  async query(sql: string, parameters: readonly SqlValue[]): Promise<readonly SqlRow[]> {
    this.#client ??= this.#connect();
    const client = await this.#client.catch((error: unknown) => {
      this.#client = null;
      throw error;
    });
    const answer = client.query(sql, [...parameters]);
    const { rows } = await withDeadline(answer, STATEMENT_DEADLINE_MS).catch((error: unknown) => {
      if (!(error instanceof LonghaulError)) throw error;
      // A connection without an answer may be dead for good: the next statement gets another.
      this.#drop();
      const message = `PostgreSQL did not answer in ${STATEMENT_DEADLINE_MS} ms`;
      throw new LonghaulError('outcome-unknown', message, { cause: error });
    });
    return rows as readonly SqlRow[];
  }

  follow(onRows: () => void): void {
    this.#onRows = onRows;
    // A connection from before does not listen yet. If it is lost, the next one listens.
    void this.#client?.then((client) => this.#listen(client)).catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#onRows = null;
    await this.#client?.catch(() => undefined);
    this.#drop();
    await (await this.#own?.catch(() => null))?.end();
  }

  async #connect(): Promise<PgPoolClient> {
    const client = await (await this.#pool()).connect();
    const onNotification = (): void => this.#onRows?.();
    let isDropped = false;
    const drop = (): void => {
      if (isDropped) return;
      isDropped = true;
      this.#client = null;
      client.off('notification', onNotification);
      // Never back to the pool: its next user would receive notifications. Late errors of the client stay handled.
      client.release(true);
      this.#onRows?.();
    };
    client.on('notification', onNotification);
    client.on('error', drop);
    client.on('end', drop);
    this.#drop = drop;
    if (this.#onRows !== null) await this.#listen(client).catch(dropAndThrow);
    return client;

    function dropAndThrow(error: unknown): never {
      drop();
      throw error;
    }
  }

  async #listen(client: PgPoolClient): Promise<void> {
    await client.query(`LISTEN "${this.#table}"`, []);
  }

  #pool(): Promise<PgPool> {
    if (typeof this.#given !== 'string') return Promise.resolve(this.#given);
    this.#own ??= openPool(this.#given);
    return this.#own;
  }
}

async function openPool(address: string): Promise<OwnPool> {
  const { Pool } = await loadPg();
  const pool = new Pool({ connectionString: address, max: 2, keepAlive: true });
  // A lost connection of the pool is replaced; the statement that needed it has its own error.
  pool.on('error', () => undefined);
  return pool;
}
