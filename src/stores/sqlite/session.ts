/**
 * One connection to the file with everything that is known by heart about it: transactions, the calls inside
 * them, and what others did to the file in between.
 *
 * Invariant: nothing is known by heart that was not true when the open transaction began. At its begin the
 * file is asked whether somebody else wrote; after an undone one everything is read again.
 */
import type { Moment } from '../../core/clock.ts';
import type { StoreEvent } from '../../core/job-store.ts';
import { restartedLease } from '../../core/lifecycle.ts';
import type { CallName } from '../../core/operations/perform.ts';
import { isReadOnly, perform } from '../../core/operations/perform.ts';
import { ClockFile } from './clock-file.ts';
import type { Durability } from './connection.ts';
import { openConnection, stopWaiting, waitForOthers } from './connection.ts';
import { EventLog } from './event-log.ts';
import type { Request, RequestName } from './messages.ts';
import { Peers } from './peers.ts';
import { performOnRecords } from './record-calls.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { firstRow } from './sqlite-database.ts';
import { SqliteRecords } from './sqlite-records.ts';
import { SqliteTable } from './sqlite-table.ts';
import type { StoreClock } from './store-clock.ts';
import { StoreNumbers } from './store-numbers.ts';

export interface SessionOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly clock: StoreClock;
  /** What other engines did. */
  readonly heard: (events: readonly StoreEvent[]) => void;
}

export class Session {
  readonly peers: Peers;
  readonly #options: SessionOptions;
  readonly #db: Database;
  readonly #numbers: StoreNumbers;
  readonly #records: SqliteRecords;
  readonly #table: SqliteTable;
  readonly #log: EventLog;
  readonly #clockFile: ClockFile;
  readonly #dataVersion: Statement;
  readonly #totalChanges: Statement;
  #events: StoreEvent[] = [];
  #seenVersion: number | undefined;
  #changesBefore = 0;

  constructor(options: SessionOptions) {
    const db = openConnection(options.path, options.durability);
    const emit = (event: StoreEvent): void => void this.#events.push(event);
    const settings = (queue: string) => this.#records.settings(queue);
    this.#options = options;
    this.#db = db;
    this.#numbers = new StoreNumbers(db);
    this.#records = new SqliteRecords(db, {
      numbers: this.#numbers,
      changed: (queue) => emit({ type: 'queue', id: '', queue, state: null }),
    });
    this.#table = new SqliteTable(db, { numbers: this.#numbers, settings, emit });
    this.peers = new Peers(db);
    this.#log = new EventLog(db, this.peers.id);
    this.#clockFile = new ClockFile(options.path);
    this.#dataVersion = db.prepare('PRAGMA data_version');
    this.#totalChanges = db.prepare('SELECT total_changes()');
  }

  /** Becomes one of those that have the file open. What others do from here on is heard. */
  enter(): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      this.peers.enter();
      this.#log.start();
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
    if (this.peers.hasOthers) this.#options.clock.arriveLate();
    stopWaiting(this.#db);
  }

  /** The opposite. Waits for a moment: a row that stays makes others write for nobody. */
  leave(): void {
    waitForOthers(this.#db);
    this.#db.exec('BEGIN IMMEDIATE');
    this.peers.leave();
    this.#db.exec('COMMIT');
  }

  begin(): void {
    this.#db.exec('BEGIN IMMEDIATE');
    this.#noticeOthers();
    if (this.peers.hasOthers) this.#options.clock.agree(this.#clockFile.read());
    this.#events = [];
    this.#changesBefore = this.#changes();
  }

  /** When a call that may write happens. After the clock was set back, running leases begin anew. */
  moment([, name, , now]: Request): Moment {
    if (isRecordCall(name)) return this.#options.clock.look(now);
    const reading = this.#options.clock.read(now);
    if (reading.hasSteppedBack) {
      for (const job of this.#table.allRunning()) this.#table.replace(job, restartedLease(job, reading.now), null);
    }
    return reading;
  }

  perform([, name, argument]: Request, moment: Moment): unknown {
    if (isRecordCall(name)) return performOnRecords(this.#records, name, argument, moment.now);
    return perform(this.#table, name, argument as never, moment);
  }

  /** One call whose failure undoes nothing but itself. */
  performApart(request: Request, moment: Moment): unknown {
    const restore = this.#table.mark();
    const { length } = this.#events;
    this.#db.exec('SAVEPOINT call');
    try {
      return this.perform(request, moment);
    } catch (error) {
      // A full disk or a broken one has ended the transaction already; then there is nothing to go back to.
      if (!this.#db.isTransaction) throw error;
      this.#db.exec('ROLLBACK TO call');
      restore();
      this.#records.forget();
      this.#events.length = length;
      throw error;
    } finally {
      if (this.#db.isTransaction) this.#db.exec('RELEASE call');
    }
  }

  /** Answers what changed. */
  commit(): readonly StoreEvent[] {
    const events = this.#events;
    if (this.#changes() !== this.#changesBefore) {
      this.#table.save(this.#options.clock.memory);
      if (this.peers.hasOthers && events.length > 0) this.#log.write(events);
      this.peers.sweep();
    }
    if (this.peers.hasOthers) this.#clockFile.write(this.#options.clock.memory);
    this.#db.exec('COMMIT');
    this.#options.clock.keep();
    return events;
  }

  rollback(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    this.#options.clock.undo();
    this.#forget();
    this.#seenVersion = undefined;
  }

  /** Calls that only look, all of them at the same state of the file. */
  look<T>(body: () => T): T {
    this.#db.exec('BEGIN');
    try {
      this.#noticeOthers();
      return body();
    } finally {
      this.#db.exec('COMMIT');
    }
  }

  lookMoment([, , , now]: Request): Moment {
    return this.#options.clock.look(now);
  }

  /** Puts what stands in the log into the database, so that the log begins anew in the room that it has. */
  emptyLog(): void {
    this.#db.exec('PRAGMA wal_checkpoint(RESTART)');
  }

  close(): void {
    this.#clockFile.close();
    this.#db.close();
  }

  #noticeOthers(): void {
    const version = firstRow<readonly [number]>(this.#dataVersion)?.[0];
    if (version === this.#seenVersion) return;
    this.#forget();
    this.#options.clock.join(this.#numbers.load());
    this.peers.reload();
    const events = this.#log.hear();
    this.#seenVersion = version;
    if (events.length > 0) this.#options.heard(events);
  }

  #forget(): void {
    this.#table.forget();
    this.#records.forget();
  }

  #changes(): number {
    return firstRow<readonly [number]>(this.#totalChanges)?.[0] ?? 0;
  }
}

function isRecordCall(name: RequestName): name is Exclude<RequestName, CallName> {
  return name.startsWith('records.');
}

/** Calls that leave no trace: they need no write lock and wait for no disk. */
export function isLook(name: RequestName): boolean {
  return isRecordCall(name) ? name === 'records.get' || name === 'records.list' : isReadOnly(name);
}
