/**
 * One connection to the file with everything that is known by heart about it: transactions, and the calls inside
 * them.
 *
 * Invariant: nothing is known by heart that was not true when the open transaction began. At its begin the
 * file is asked whether somebody else wrote; after an undone one everything is read again.
 */
import { realpathSync } from 'node:fs';
import { markEvent } from '../../../core/job/tracked-jobs.ts';
import type { Moment } from '../../../core/lifecycle/clock.ts';
import { namedAddress } from '../../../core/limits/throttle.ts';
import { followClock } from '../../../core/operations/clock-step.ts';
import { performMove } from '../../../core/operations/migrate.ts';
import { perform } from '../../../core/operations/perform.ts';
import { settingsChanged, throttleChanged } from '../../../core/operations/throttles.ts';
import type { ClaimResult, StoreEvent } from '../../../core/ports/job-store.ts';
import { closedWords } from '../../../core/ports/migration.ts';
import { STRANGER_MEMORY_MS } from '../../../core/settings/settings.ts';
import { refuseDamaged, withoutDamaged } from '../tables/damaged-jobs.ts';
import { SqliteMigrationRows } from '../tables/migration-rows.ts';
import { performOnRecords } from '../tables/record-calls.ts';
import { SqliteRecords } from '../tables/sqlite-records.ts';
import { SqliteTable } from '../tables/sqlite-table.ts';
import { StoreNumbers } from '../tables/store-numbers.ts';
import type { Durability } from './connection.ts';
import { openConnection, stopWaiting, waitForOthers } from './connection.ts';
import type { Request } from './messages.ts';
import { isMovingCall, isRecordCall, migrationCall } from './messages.ts';
import { Others } from './other-engines.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { firstRow } from './sqlite-database.ts';
import type { StoreClock } from './store-clock.ts';

/** 8 MB: a moment's work. */
const SHRINK_PAGES = 2_048;

export interface SessionOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly create?: boolean;
  readonly clock: StoreClock;
  /** Whether anybody wants to hear what other engines did. */
  readonly isAnyoneListening: () => boolean;
  readonly heard: (events: readonly StoreEvent[]) => void;
}

export class Session {
  /** Where the file really is, whatever links lead to it: what stands beside it is shared with others. */
  readonly path: string;
  readonly others: Others;
  readonly #clock: StoreClock;
  readonly #db: Database;
  readonly #numbers: StoreNumbers;
  readonly #records: SqliteRecords;
  readonly #table: SqliteTable;
  readonly #migrationRows: SqliteMigrationRows;
  readonly #totalChanges: Statement;
  #events: StoreEvent[] = [];
  #changesBefore = 0;

  constructor(options: SessionOptions) {
    const { path, clock } = options;
    const db = openConnection(options);
    const emit = (event: StoreEvent): void => void this.#events.push(event);
    const settings = (queue: string) => this.#records.settings(queue);
    const throttleMax = (name: string) => this.#records.throttleMax(name);
    this.path = realpathSync(path);
    this.#clock = clock;
    this.#db = db;
    this.#numbers = new StoreNumbers(db);
    this.#records = new SqliteRecords(db, {
      numbers: this.#numbers,
      changed: (kind, key, now) => this.#changed(kind, key, now),
      marked: (id, isMarked) => emit(markEvent(id, isMarked, this.#table.get(id))),
    });
    const closed = () => closedWords(this.#records.standing());
    this.#table = new SqliteTable(db, { numbers: this.#numbers, settings, throttleMax, closed, emit });
    this.#migrationRows = new SqliteMigrationRows(db, {
      numbers: this.#numbers,
      records: this.#records,
      table: this.#table,
    });
    this.others = new Others(db, { ...options, path: this.path });
    this.#totalChanges = db.prepare('SELECT total_changes()');
  }

  /** Becomes one of those that have the file open. Throws when another one writes; then nothing was done. */
  enter(): void {
    stopWaiting(this.#db);
    this.#transact(() => this.others.enter());
  }

  /** The opposite. Waits for a moment: a row that stays makes others write for nobody. */
  leave(): void {
    waitForOthers(this.#db);
    this.#transact(() => this.others.leave());
  }

  /** Throws with no transaction open. */
  begin(): void {
    this.#rollBack();
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      this.#noticeOthers();
      this.others.readClock();
      this.#events = [];
      this.#changesBefore = this.#changes();
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** When a call that may write happens. After the clock was set back, leases and delays begin anew. */
  moment([, name, , now]: Request): Moment {
    if (isRecordCall(name)) return this.#clock.look(now);
    const reading = this.#clock.read(now);
    followClock(this.#table, reading);
    return reading;
  }

  lookMoment([, , , now]: Request): Moment {
    return this.#clock.look(now);
  }

  perform([, name, argument]: Request, moment: Moment): unknown {
    if (isMovingCall(name))
      return performMove(this.#migrationRows, { name: migrationCall(name), argument }, moment.now);
    if (isRecordCall(name)) return performOnRecords(this.#records, name, argument, moment.now);
    if (name === 'maintain') this.#table.forgetStrangers(moment.now - STRANGER_MEMORY_MS);
    const answer = perform(this.#table, name, argument as never, moment);
    if (name === 'claim') return withoutDamaged(this.#table, answer as ClaimResult, moment);
    refuseDamaged(name, answer);
    return answer;
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
      this.#table.save(this.#clock.memory);
      this.others.tell(events);
    }
    this.others.writeClock();
    this.#db.exec('COMMIT');
    this.#clock.keep();
    return events;
  }

  /** Never throws: what a failing disk keeps open is rolled back by the next transaction, before it begins. */
  rollback(): void {
    this.#tryRollBack();
    this.#clock.undo();
    this.#forget();
    this.others.forget();
  }

  /** Calls that only look, all of them at the same state of the file. */
  look<T>(body: () => T): T {
    this.#rollBack();
    this.#db.exec('BEGIN');
    try {
      this.#noticeOthers();
      const answer = body();
      this.#db.exec('COMMIT');
      return answer;
    } catch (error) {
      this.#tryRollBack();
      throw error;
    }
  }

  /** Reads and writes the file, past what is held in memory, and changes nothing that means anything. */
  probe(): void {
    this.#db.exec('PRAGMA shrink_memory');
    this.begin();
    try {
      this.others.renew();
      this.#db.exec('COMMIT');
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** Puts what stands in the log into the database, so that the log begins anew in the room that it has. */
  emptyLog(): void {
    this.#db.exec('PRAGMA wal_checkpoint(RESTART)');
  }

  /** Gives back to the disk what the database holds and does not need, some of it at a time, and what the log holds. */
  shrink(): void {
    this.#db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.others.close();
    this.#db.close();
  }

  #transact(body: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      body();
      this.#db.exec('COMMIT');
    } finally {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
    }
  }

  #rollBack(): void {
    if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
  }

  #tryRollBack(): void {
    try {
      this.#rollBack();
    } catch {
      return;
    }
  }

  #changed(kind: 'queue' | 'throttle', key: string, now: number): void {
    if (kind === 'throttle') return throttleChanged(this.#table, namedAddress(key));
    settingsChanged(this.#table, key, now);
  }

  #noticeOthers(): void {
    if (!this.others.haveWritten()) return;
    this.#forget();
    this.#clock.join(this.#numbers.load());
    this.others.hear();
  }

  #forget(): void {
    this.#table.forget();
    this.#records.forget();
  }

  #changes(): number {
    return firstRow<readonly [number]>(this.#totalChanges)?.[0] ?? 0;
  }
}
