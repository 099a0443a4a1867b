/**
 * The other engines on the same file, seen from this one: whether they wrote, their events, and the common clock.
 * Without others, the only cost is one query at the start of a transaction.
 */
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import { ClockFile } from './clock-file.ts';
import { EventLog } from './event-log.ts';
import { Peers } from './peers.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { firstRow } from './sqlite-database.ts';
import type { StoreClock } from './store-clock.ts';

export interface OtherEnginesOptions {
  readonly path: string;
  readonly clock: StoreClock;
  /** Whether a client wants the events of other engines. */
  readonly hasListeners: () => boolean;
  readonly onEvents: (events: readonly StoreEvent[]) => void;
}

export class OtherEngines {
  readonly #options: OtherEnginesOptions;
  readonly #peers: Peers;
  readonly #log: EventLog;
  readonly #clockFile: ClockFile;
  readonly #dataVersion: Statement;
  #seenVersion: number | undefined;
  #waitsSince: number | null = null;

  constructor(db: Database, options: OtherEnginesOptions) {
    this.#options = options;
    this.#peers = new Peers(db);
    this.#log = new EventLog(db, this.#peers.id);
    this.#clockFile = new ClockFile(options.path);
    this.#dataVersion = db.prepare('PRAGMA data_version');
  }

  /** Whether another engine has the file open. */
  get exist(): boolean {
    return this.#peers.hasOthers;
  }

  get pids(): readonly number[] {
    return this.#peers.pids;
  }

  /** Registers this engine, in a transaction. Events of others are read from here on. */
  register(): void {
    this.#peers.register();
    this.#log.skip();
    if (this.exist) this.#options.clock.joinLate();
  }

  unregister(): void {
    this.#peers.unregister();
  }

  /** Writes the row of this engine again. */
  renew(): void {
    this.#peers.renew();
  }

  checkAlive(): void {
    this.#peers.checkAlive();
  }

  close(): void {
    this.#clockFile.close();
  }

  /** A number that changes when another engine writes; undefined during recovery of the log, which is progress too. */
  get progress(): number | undefined {
    try {
      return this.#version();
    } catch {
      return undefined;
    }
  }

  /** Whether another engine wrote since the last `catchUp`. */
  haveWritten(): boolean {
    return this.#version() !== this.#seenVersion;
  }

  /** Reads what the other engines did since the last call, and passes their events on. */
  catchUp(): void {
    const version = this.#version();
    this.#peers.reload();
    const events = this.#options.hasListeners() ? this.#log.read() : this.#log.skip();
    this.#seenVersion = version;
    if (events.length > 0) this.#options.onEvents(events);
  }

  /** Makes the next transaction read everything again. */
  forget(): void {
    this.#seenVersion = undefined;
  }

  /**
   * Records that another process holds the write lock, called at every try. The engine that gets the lock first may not
   * be one that waited, but it must know that leases could not be renewed.
   */
  recordLocked(): void {
    const to = Date.now();
    this.#waitsSince ??= to;
    const locked = { from: this.#waitsSince, to };
    this.#options.clock.applyLocked(locked);
    this.#clockFile.writeLocked(locked);
  }

  /** Called at the start of a transaction that may write. */
  readClock(): void {
    this.#waitsSince = null;
    if (!this.exist) return;
    this.#options.clock.applyShared(this.#clockFile.read());
    this.#options.clock.applyLocked(this.#clockFile.readLocked());
  }

  /** Called at the end of such a transaction, even if it changed nothing: every call is a reading of the clock. */
  writeClock(): void {
    if (this.exist) this.#clockFile.write(this.#options.clock.memory);
  }

  /** Called at the end of a transaction that changed something. */
  publish(events: readonly StoreEvent[]): void {
    if (this.exist && events.length > 0) this.#log.write(events);
    this.#peers.sweep();
  }

  #version(): number | undefined {
    return firstRow<readonly [number]>(this.#dataVersion)?.[0];
  }
}
