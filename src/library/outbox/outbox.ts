/** `longhaul.outbox()`: adds jobs inside transactions of the user's database, and relays them into the store. */
import { hostname } from 'node:os';
import { checked, duration, integer, object, text } from '../../core/input/check.ts';
import type { Duration } from '../../core/input/duration.ts';
import { badInput } from '../../core/ports/errors.ts';
import type { Connection } from '../connection.ts';
import type { OutboxAdapter } from './outbox-adapter.ts';
import type { OutboxEvent } from './outbox-event.ts';
import type { OutboxAddOptions } from './outbox-job.ts';
import { toInsert } from './outbox-job.ts';
import { schemaStatements } from './outbox-schema.ts';
import type { FailedRow, OutboxStatus } from './outbox-table.ts';
import { OutboxTable } from './outbox-table.ts';
import { Relay } from './relay.ts';

/** Options of `longhaul.outbox`. */
export interface OutboxOptions {
  /** The name in metrics and in `longhaul doctor`. Default: the name of the table. */
  readonly name?: string;
  /** How often the relay looks for rows without a notification. Default: 100 ms for SQLite, 1 s for `pg`, else 500 ms. */
  readonly poll?: Duration;
  /** How long a relay holds rows; those of a killed relay are taken over afterwards. Default 10 s. */
  readonly lease?: Duration;
  /** How many rows are relayed at once. Default 100. */
  readonly batch?: number;
  /** Receives the events of the relay. */
  readonly onEvent?: (event: OutboxEvent) => void;
}

/** A job that was written to an outbox. */
export interface OutboxJob {
  /** The id that the job will have. */
  readonly id: string;
}

/** What `add` returns: a promise, unless the database is synchronous. */
export type OutboxAdded<Written> = Written extends Promise<void> ? Promise<OutboxJob> : OutboxJob;

const LEASE_MS = 10_000;
const BATCH = 100;
const FAILED_PAGE = 100;

const shape = object({
  name: text({ max: 128, pattern: /^[^\u0000-\u001f\u007f]+$/, must: 'must be 1 to 128 characters' }),
  poll: duration(1),
  lease: duration(100),
  batch: integer(1, 1_000),
  onEvent: (value: unknown, report, path) => {
    if (typeof value !== 'function') report(path, 'must be a function');
    return value as (event: OutboxEvent) => void;
  },
});

/** An outbox: a table in the user's database, from which a relay moves jobs into the store. */
export class Outbox<Tx, Written extends void | Promise<void>> implements AsyncDisposable {
  /** The statements that create the table, for a migration tool. */
  readonly sql: string;
  readonly #connection: Connection;
  readonly #adapter: OutboxAdapter<Tx, Written>;
  readonly #table: OutboxTable;
  readonly #relay: Relay;
  #closing: Promise<void> | null = null;
  #isStarted = false;

  constructor(connection: Connection, adapter: OutboxAdapter<Tx, Written>, options: OutboxOptions) {
    if (typeof adapter?.insert !== 'function')
      throw badInput('outbox', [
        { path: '', message: 'needs an adapter: sqliteOutbox(db), pgOutbox(pool) or sqlOutbox(run)' },
      ]);
    const given = checked('outbox options', options, shape);
    this.#connection = connection;
    this.#adapter = adapter;
    this.#table = new OutboxTable(adapter);
    this.sql = `${schemaStatements(adapter.dialect, adapter.table).join(';\n')};\n`;
    this.#relay = new Relay({
      store: connection.store,
      table: this.#table,
      name: given.name ?? adapter.table,
      host: hostname(),
      pollMs: given.poll ?? adapter.pollMs,
      leaseMs: given.lease ?? LEASE_MS,
      limit: given.batch ?? BATCH,
      looksFirst: adapter.dialect === 'sqlite',
      emit: given.onEvent ?? (() => undefined),
    });
  }

  /** Creates the table, its indexes and, in PostgreSQL, its triggers, unless they exist. */
  async setup(): Promise<void> {
    await this.#adapter.execute(schemaStatements(this.#adapter.dialect, this.#adapter.table));
  }

  /**
   * Writes a job into the transaction. The job exists once the transaction is committed, and never if it is rolled back.
   * With a synchronous database this returns at once; otherwise await it before the commit.
   */
  add(tx: Tx, queue: string, data: unknown, options: OutboxAddOptions = {}): OutboxAdded<Written> {
    const newId = this.#connection.newId;
    const { id, statement } = toInsert(this.#adapter.table, { queue, data, options, newId });
    const written = this.#adapter.insert(tx, statement);
    if (this.#isStarted && this.#adapter.dialect === 'sqlite') setImmediate(() => this.#relay.wake());
    const added = written instanceof Promise ? written.then(() => ({ id })) : { id };
    return added as OutboxAdded<Written>;
  }

  /** Starts the relay in this process, until `close()`. Idempotent. */
  start(): void {
    if (this.#isStarted || this.#closing !== null) return;
    this.#isStarted = true;
    this.#adapter.follow(() => this.#relay.wake());
    this.#relay.start();
  }

  /** Counts the rows. */
  async status(): Promise<OutboxStatus> {
    return this.#table.status();
  }

  /** Lists rows that cannot be relayed, the oldest first. */
  async failed(limit = FAILED_PAGE): Promise<readonly FailedRow[]> {
    return this.#table.failed(checked('limit', limit, integer(1, 10_000)));
  }

  /** Makes a failed row wait again, or all of them. Returns how many. */
  async retry(id?: string): Promise<number> {
    return this.#table.retry(id ?? null);
  }

  /** Stops the relay. Rows that it has not relayed stay in the table. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#relay.stop();
    await this.#adapter.close();
    this.#connection.outboxes.delete(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
