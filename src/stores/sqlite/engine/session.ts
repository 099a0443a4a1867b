// Long because transactions, calls and caches share one connection, and each is a few lines.
/**
 * One connection to the file with its caches: transactions, and the calls inside them.
 *
 * Invariant: a cache holds nothing that was not true when the open transaction began. At its start the session checks
 * whether another engine wrote; after a rollback it reads everything again.
 */
import { realpathSync } from 'node:fs';
import { trackingEvent } from '../../../core/job/tracked-jobs.ts';
import type { Moment } from '../../../core/lifecycle/clock.ts';
import { followClock } from '../../../core/operations/clock-step.ts';
import { performMigration } from '../../../core/operations/migrate.ts';
import { perform } from '../../../core/operations/perform.ts';
import { settingsChanged, throttleChanged } from '../../../core/operations/throttles.ts';
import type { ClaimResult, NewJob, StoreEvent } from '../../../core/ports/job-store.ts';
import { closedReason } from '../../../core/ports/migration.ts';
import { UNREGISTERED_WORKER_TTL_MS } from '../../../core/settings/settings.ts';
import { CommitSync, SKIPPED_TOKENS } from '../commit-sync.ts';
import { PresumedAdds } from '../presumed-adds.ts';
import { refuseDamaged, withoutDamaged } from '../tables/damaged-jobs.ts';
import { SqliteMigrationRows } from '../tables/migration-rows.ts';
import { performOnRecords } from '../tables/record-calls.ts';
import { SqliteRecords } from '../tables/sqlite-records.ts';
import { SqliteTable } from '../tables/sqlite-table.ts';
import { StoreNumbers } from '../tables/store-numbers.ts';
import type { Durability } from './connection.ts';
import { openConnection, stopWaiting, waitForOthers } from './connection.ts';
import type { Request } from './messages.ts';
import { isMigrationCall, isRecordCall, migrationCall } from './messages.ts';
import { OtherEngines } from './other-engines.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { execute, firstRow } from './sqlite-database.ts';
import type { StoreClock } from './store-clock.ts';

/** 8 MB, which takes milliseconds. */
const SHRINK_PAGES = 2_048;

export interface SessionOptions {
  readonly path: string;
  readonly durability: Durability;
  readonly create?: boolean;
  readonly clock: StoreClock;
  /** Whether a client wants the events of other engines. */
  readonly hasListeners: () => boolean;
  readonly onEvents: (events: readonly StoreEvent[]) => void;
  /** Called when the fsync that follows a commit failed. */
  readonly onFailed: (error: unknown) => void;
}

export class Session {
  /** The real path, with links resolved: the files beside it are shared with other engines. */
  readonly path: string;
  readonly others: OtherEngines;
  readonly sync: CommitSync;
  readonly #clock: StoreClock;
  readonly #db: Database;
  readonly #numbers: StoreNumbers;
  readonly #records: SqliteRecords;
  readonly #table: SqliteTable;
  readonly #presumed: PresumedAdds;
  readonly #migrationRows: SqliteMigrationRows;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #totalChanges: Statement;
  #events: StoreEvent[] = [];
  #changesBefore = 0;

  constructor(options: SessionOptions) {
    const { path, clock } = options;
    const db = openConnection(options);
    const emit = (event: StoreEvent): void => void this.#events.push(event);
    const settings = (queue: string) => this.#records.settings(queue);
    const throttle = (name: string) => this.#records.throttle(name);
    this.path = realpathSync(path);
    this.#clock = clock;
    this.#db = db;
    this.#numbers = new StoreNumbers(db);
    this.#records = new SqliteRecords(db, {
      numbers: this.#numbers,
      changed: (kind, key, now) => this.#changed(kind, key, now),
      marked: (id, isMarked) => emit(trackingEvent(id, isMarked, this.#table.get(id))),
    });
    const closed = () => closedReason(this.#records.standing());
    this.#table = new SqliteTable(db, { numbers: this.#numbers, settings, throttle, closed, emit });
    this.#presumed = new PresumedAdds(this.#table);
    this.#migrationRows = new SqliteMigrationRows(db, {
      numbers: this.#numbers,
      records: this.#records,
      table: this.#table,
    });
    this.others = new OtherEngines(db, { ...options, path: this.path });
    this.sync = new CommitSync(db, { ...options, path: this.path });
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#totalChanges = db.prepare('SELECT total_changes()');
  }

  /** Adds this engine to those that have the file open. Throws when another process holds the lock; then nothing was done. */
  register(): void {
    stopWaiting(this.#db);
    this.#transact(() => {
      this.others.register();
      this.#db.exec(`UPDATE meta SET token = token + ${SKIPPED_TOKENS}`);
    });
  }

  /** Removes this engine's row. Waits for the lock: a row that stays makes others log events without a reader. */
  unregister(): void {
    waitForOthers(this.#db);
    this.#transact(() => this.others.unregister());
  }

  /** Starts a write transaction; `sync` as in `CommitSync.begin`. If it throws, no transaction is open. */
  begin(sync?: 'later'): void {
    this.#rollBack();
    this.sync.begin(sync);
    execute(this.#begin);
    try {
      this.#catchUp();
      this.others.readClock();
      this.#events = [];
      this.#changesBefore = this.#changes();
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** The events of the open transaction so far. */
  get events(): readonly StoreEvent[] {
    return this.#events;
  }

  /** Returns the time of a call that may write. After the clock was set back, leases and delays start again. */
  moment({ name, now }: Request): Moment {
    if (isRecordCall(name)) return this.#clock.peek(now);
    const reading = this.#clock.read(now);
    followClock(this.#table, reading);
    return reading;
  }

  /** Returns the time of a call that only reads. */
  readMoment({ now }: Request): Moment {
    return this.#clock.peek(now);
  }

  /** Performs a call that `performInSavepoint` can repeat: an add may presume that its jobs are new (presumed-adds.ts). */
  performOnce(request: Request, moment: Moment): unknown {
    const { name, argument } = request;
    if (name !== 'add' || !this.#presumed.mayPresume(argument as readonly NewJob[]))
      return this.perform(request, moment);
    return this.#table.presumingNew(() => this.perform(request, moment));
  }

  /** Called when a job existed that was presumed new. */
  checkAdds(): void {
    this.#presumed.checkAdds();
  }

  perform({ name, argument }: Request, moment: Moment): unknown {
    if (name !== 'add') this.#table.flush();
    if (isMigrationCall(name))
      return performMigration(this.#migrationRows, { name: migrationCall(name), argument }, moment.now);
    if (isRecordCall(name)) return performOnRecords(this.#records, name, argument, moment.now);
    if (name === 'maintain') this.#table.forgetUnregisteredWorkers(moment.now - UNREGISTERED_WORKER_TTL_MS);
    const answer = perform(this.#table, name, argument as never, moment);
    if (name === 'claim') return withoutDamaged(this.#table, answer as ClaimResult, moment);
    refuseDamaged(name, answer);
    return answer;
  }

  /** Performs one call in a savepoint: its failure undoes nothing but itself. */
  performInSavepoint(request: Request, moment: Moment): unknown {
    const restore = this.#table.snapshot();
    const { length } = this.#events;
    this.#db.exec('SAVEPOINT call');
    try {
      return this.#table.flushing(() => this.perform(request, moment));
    } catch (error) {
      // A full or failing disk has already ended the transaction: there is no savepoint to return to.
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

  /** Commits, and returns the events of the transaction. `hasTakenSlot`: see `CommitSync.committed`. */
  commit(hasTakenSlot = false): readonly StoreEvent[] {
    this.#table.flush();
    const events = this.#events;
    const hasChanged = this.#changes() !== this.#changesBefore;
    if (hasChanged) {
      this.#table.save(this.#clock.memory);
      this.others.publish(events);
    }
    this.others.writeClock();
    execute(this.#commit);
    this.#clock.commit();
    if (hasChanged) this.sync.committed(events, hasTakenSlot);
    return events;
  }

  get hasLongLog(): boolean {
    return this.#table.hasLongLog;
  }

  /** Adds the log of statistics to its cells, in a transaction of its own. Throws when another process holds the lock. */
  aggregateStatistics(): void {
    this.begin('later');
    try {
      this.#table.aggregateStatistics();
      this.commit();
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** Never throws: a transaction that a failing disk keeps open is rolled back before the next one begins. */
  rollback(): void {
    this.#tryRollBack();
    this.#clock.rollback();
    this.#forget();
    this.others.forget();
  }

  /** Runs reads in one transaction, so that all see the same state of the file. */
  read<T>(body: () => T): T {
    this.#rollBack();
    this.#db.exec('BEGIN');
    try {
      this.#catchUp();
      const answer = body();
      this.#db.exec('COMMIT');
      return answer;
    } catch (error) {
      this.#tryRollBack();
      throw error;
    }
  }

  /** Reads and writes the file, bypassing the page cache, without a change of meaning. */
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

  /** Runs a checkpoint, so that the write-ahead log restarts in the space that it has. */
  emptyLog(): void {
    this.#db.exec('PRAGMA wal_checkpoint(RESTART)');
  }

  /** Returns unused pages of the database, a limited number at a time, and the log's space to the file system. */
  shrink(): void {
    this.#db.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  }

  close(): void {
    this.sync.close();
    this.others.close();
    this.#db.close();
  }

  #transact(body: () => void): void {
    this.sync.begin();
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
    if (kind === 'throttle') return throttleChanged(this.#table, key, now);
    settingsChanged(this.#table, key, now);
  }

  /** Drops the caches if another engine wrote, and reads its events. */
  #catchUp(): void {
    if (!this.others.haveWritten()) return;
    const { version } = this.#numbers.given;
    this.#table.forget();
    this.#clock.merge(this.#numbers.load());
    // Every change of a record takes a version.
    if (this.#numbers.given.version !== version) this.#records.forget();
    this.sync.othersWrote();
    this.others.catchUp();
  }

  #forget(): void {
    this.#table.forget();
    this.#records.forget();
  }

  #changes(): number {
    return firstRow<readonly [number]>(this.#totalChanges)?.[0] ?? 0;
  }
}
