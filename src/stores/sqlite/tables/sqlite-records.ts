/**
 * The Records port over the same database, as plain functions of the open transaction.
 *
 * Queue settings are read from here. Each is parsed once and cached until a record is written.
 *
 * Invariant: every change of a record takes a version of the store, so that other engines know that theirs are current.
 */

import { TRACKED_RECORD } from '../../../core/job/tracked-jobs.ts';
import type { Throttle } from '../../../core/limits/bucket.ts';
import { throttleIn } from '../../../core/limits/bucket.ts';
import { THROTTLE_RECORD } from '../../../core/limits/throttle.ts';
import type { MigrationState } from '../../../core/ports/migration.ts';
import { MIGRATION_STATE_RECORD } from '../../../core/ports/migration.ts';
import type { PutRecord, RecordQuery, StoredRecord } from '../../../core/ports/records.ts';
import type { Refused } from '../../../core/ports/refusal.ts';
import { refuse } from '../../../core/ports/refusal.ts';
import type { QueueSettings, SetSettings } from '../../../core/settings/settings.ts';
import { GLOBAL_SETTINGS_KEY, QUEUE_RECORD, settingsIn, settingsOf } from '../../../core/settings/settings.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';
import type { StoreNumbers } from './store-numbers.ts';

export type RecordRow = readonly [
  kind: string,
  key: string,
  version: number,
  value: string,
  expiresAt: number | null,
  updatedAt: number,
];
export const RECORD_COLUMNS = 'kind, key, version, value, expires_at, updated_at';
/** How many expired records a put deletes at most. */
const MAX_CLEARED = 100;

export interface SqliteRecordsOptions {
  readonly numbers: StoreNumbers;
  /** Called when settings of a queue or a throttle changed. */
  changed(kind: typeof QUEUE_RECORD | typeof THROTTLE_RECORD, key: string, now: number): void;
  /** Called when a job becomes tracked or untracked. */
  marked(id: string, isMarked: boolean): void;
}

export class SqliteRecords {
  readonly #options: SqliteRecordsOptions;
  readonly #get: Statement;
  readonly #put: Statement;
  readonly #delete: Statement;
  readonly #clear: Statement;
  readonly #list: Statement;
  readonly #settings = new Map<string, QueueSettings>();
  readonly #throttles = new Map<string, Throttle>();
  /** The settings for all queues; null if they are not cached. */
  #shared: { readonly set: SetSettings | undefined } | null = null;
  /** The role of the store in a migration; undefined if it is not cached. */
  #standing: MigrationState | null | undefined;

  constructor(db: Database, options: SqliteRecordsOptions) {
    this.#options = options;
    this.#get = db.prepare(`SELECT ${RECORD_COLUMNS} FROM records WHERE kind = ? AND key = ?`);
    this.#put = db.prepare(`INSERT OR REPLACE INTO records (${RECORD_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
    this.#delete = db.prepare('DELETE FROM records WHERE kind = ? AND key = ?');
    this.#clear = db.prepare(`DELETE FROM records WHERE (kind, key) IN
      (SELECT kind, key FROM records INDEXED BY records_expiring
       WHERE expires_at IS NOT NULL AND expires_at <= ? AND kind NOT IN ('${QUEUE_RECORD}', '${THROTTLE_RECORD}') LIMIT ${MAX_CLEARED})`);
    // Keys are ordered by bytes, so the prefix followed by a byte that no text contains ends the range.
    this.#list = db.prepare(`SELECT ${RECORD_COLUMNS} FROM records
      WHERE kind = ?1 AND key >= ?2 AND key < CAST(CAST(?2 AS BLOB) || x'FF' AS TEXT) AND (?3 IS NULL OR key > ?3)
        AND (expires_at IS NULL OR expires_at > ?4)
      ORDER BY key LIMIT +?5`);
  }

  forget(): void {
    this.#settings.clear();
    this.#throttles.clear();
    this.#shared = null;
    this.#standing = undefined;
  }

  standing(): MigrationState | null {
    if (this.#standing === undefined) {
      const value = firstRow<RecordRow>(this.#get, MIGRATION_STATE_RECORD.kind, MIGRATION_STATE_RECORD.key)?.[3];
      this.#standing = value === undefined ? null : (JSON.parse(value) as MigrationState);
    }
    return this.#standing;
  }

  setStanding(standing: MigrationState | null, now: number): void {
    const { kind, key } = MIGRATION_STATE_RECORD;
    if (standing === null) this.drop(kind, key);
    else this.restore({ kind, key, version: 0, value: JSON.stringify(standing), expiresAt: null, updatedAt: now });
  }

  /** Writes a record as it is, without a version check and without an event. */
  restore({ kind, key, version, value, expiresAt, updatedAt }: StoredRecord): void {
    execute(this.#put, kind, key, version, value, expiresAt, updatedAt);
    this.#options.numbers.takeVersion();
    this.forget();
  }

  drop(kind: string, key: string): void {
    execute(this.#delete, kind, key);
    this.#options.numbers.takeVersion();
    this.forget();
  }

  settings(queue: string): QueueSettings {
    let settings = this.#settings.get(queue);
    if (settings === undefined) {
      settings = settingsOf(this.#setIn(queue), this.#sharedSettings());
      this.#settings.set(queue, settings);
    }
    return settings;
  }

  #sharedSettings(): SetSettings | undefined {
    this.#shared ??= { set: this.#setIn(GLOBAL_SETTINGS_KEY) };
    return this.#shared.set;
  }

  #setIn(key: string): SetSettings | undefined {
    const row = firstRow<RecordRow>(this.#get, QUEUE_RECORD, key);
    return settingsIn(row && readRecord(row));
  }

  throttle(name: string): Throttle {
    let throttle = this.#throttles.get(name);
    if (throttle === undefined) {
      const row = firstRow<RecordRow>(this.#get, THROTTLE_RECORD, name);
      throttle = throttleIn(row && readRecord(row));
      this.#throttles.set(name, throttle);
    }
    return throttle;
  }

  get(kind: string, key: string, now: number): StoredRecord | null {
    const row = firstRow<RecordRow>(this.#get, kind, key);
    const record = row === undefined ? null : readRecord(row);
    return record === null || (record.expiresAt !== null && record.expiresAt <= now) ? null : record;
  }

  put(record: PutRecord, now: number): { readonly ok: true; readonly version: number } | Refused {
    const { kind, key, value, ifVersion, expiresAt = null } = record;
    const known = this.get(kind, key, now)?.version ?? 0;
    if (ifVersion !== undefined && ifVersion !== known) return refuse('version-conflict', `${kind} ${key}`);
    const version = this.#options.numbers.takeVersion();
    this.#put.run(kind, key, version, value, expiresAt, now);
    this.#clear.run(now);
    this.#changed(kind, key, now);
    if (kind === TRACKED_RECORD) this.#options.marked(key, true);
    return { ok: true, version };
  }

  list({ kind, prefix = '', after, limit }: RecordQuery, now: number): readonly StoredRecord[] {
    return allRows<RecordRow>(this.#list, kind, prefix, after ?? null, now, limit).map(readRecord);
  }

  delete(kind: string, key: string, { ifVersion, now }: { ifVersion?: number; now: number }) {
    const known = this.get(kind, key, now);
    if (known === null) return refuse('not-found', `${kind} ${key}`);
    if (ifVersion !== undefined && ifVersion !== known.version) return refuse('version-conflict', `${kind} ${key}`);
    this.#delete.run(kind, key);
    this.#options.numbers.takeVersion();
    this.#changed(kind, key, now);
    if (kind === TRACKED_RECORD) this.#options.marked(key, false);
    return { ok: true as const };
  }

  #changed(kind: string, key: string, now: number): void {
    if (kind !== QUEUE_RECORD && kind !== THROTTLE_RECORD) return;
    if (key === GLOBAL_SETTINGS_KEY) this.#settings.clear();
    this.#shared = null;
    this.#settings.delete(key);
    this.#throttles.delete(key);
    this.#options.changed(kind, key, now);
  }
}

export function readRecord([kind, key, version, value, expiresAt, updatedAt]: RecordRow): StoredRecord {
  return { kind, key, version, value, expiresAt, updatedAt };
}
