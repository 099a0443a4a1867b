/**
 * Opens the database file, or creates a new one.
 *
 * A new file is written under another name and linked into place when it is complete.
 * Invariant: a file under the store's name was complete once. An empty or damaged one is data loss, reported as an error,
 * and never treated as a new store.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { makeFolder } from '../make-folder.ts';
import { readHeader } from './file-header.ts';
import { applySchema, refuseHeader, refuseSchema, upgradeSchema } from './schema.ts';
import type { Database } from './sqlite-database.ts';
import { firstRow, openDatabase } from './sqlite-database.ts';
import { explain, isUnreadable, readTwice } from './sqlite-problem.ts';

export type Durability = 'full' | 'relaxed';

/** Older versions can corrupt a write-ahead log that several connections write. */
export const OLDEST_SQLITE = '3.51.3';
/** Long enough for another process to open, upgrade or recover the file. */
export const OPENING_TIMEOUT_MS = 5_000;
const BUSY_TIMEOUT_MS = 10;
/** More is slower: a commit after a page split walks through the whole cache. The pages are in memory anyway. */
const CACHE_KB = 8_192;
/** Size of the write-ahead log that triggers a checkpoint. The ballast must have room for these pages (ballast.ts). */
const CHECKPOINT_PAGES = 1_000;
const MAX_IDLE_LOG_BYTES = 32 * 1024 * 1024;

export interface OpeningOptions {
  readonly path: string;
  readonly durability: Durability;
  /** False: opening fails for a folder without a store, and nothing is created. */
  readonly create?: boolean;
}

export function openConnection(options: OpeningOptions): Database {
  try {
    return readTwice(() => openOrCreate(options));
  } catch (error) {
    throw toOpenError(error, options.path);
  }
}

function openOrCreate({ path, durability, create = true }: OpeningOptions): Database {
  if (existsSync(path)) checkHeader(path);
  else if (create) createIn(dirname(path), path);
  else throw noStore(path);
  return openExisting(path, durability);
}

function openExisting(path: string, durability: Durability): Database {
  const db = openDatabase(path, OPENING_TIMEOUT_MS);
  try {
    checkVersion(db);
    // Before the write-ahead log is enabled, which changes the file.
    refuseSchema(db, path);
    setUp(db, durability);
    upgradeSchema(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Makes a writer wait inside SQLite for the lock of another process. */
export function waitForOthers(db: Database): void {
  db.exec(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
}

/** From here on a writer waits for the lock in the engine, which continues to serve reads meanwhile. */
export function stopWaiting(db: Database): void {
  db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
}

function createIn(folder: string, path: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true) throw noStore(path);
  makeFolder(folder);
  create(path);
}

function noStore(path: string): LonghaulError {
  const folder = dirname(path);
  if (statSync(folder, { throwIfNoEntry: false })?.isFile() === true)
    return new LonghaulError('store-incompatible', `${folder} is a file: name the folder that holds ${basename(path)}`);
  if (existsSync(`${path}-wal`)) return logAlone(path);
  return new LonghaulError(
    'store-incompatible',
    `${folder} holds no store (there is no ${basename(path)}): name the folder of a store; longhaul serve --home ${folder} creates one there`,
  );
}

function logAlone(path: string): LonghaulError {
  return new LonghaulError(
    'store-incompatible',
    `${path} is missing, but its log ${path}-wal exists: restore the file, or remove the log to create a new store`,
  );
}

/** When two processes create it at once, the second link fails, and both open the file of the first. */
function create(path: string): void {
  // The file is checked last: a process that created it in the meantime may have started a log.
  if (existsSync(`${path}-wal`) && !existsSync(path)) throw logAlone(path);
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  closeSync(openSync(draft, 'wx', 0o600));
  try {
    fill(draft);
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(draft + end, { force: true });
  }
  sync(dirname(path));
}

/** Writes without a journal: no process opens the draft before it is complete and on the disk. */
function fill(draft: string): void {
  const db = openDatabase(draft, OPENING_TIMEOUT_MS);
  try {
    // Lets `Session.shrink` return unused pages to a disk that was full.
    db.exec('PRAGMA auto_vacuum = INCREMENTAL');
    db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF');
    applySchema(db);
    db.exec('PRAGMA journal_mode = WAL');
  } finally {
    db.close();
  }
  sync(draft);
}

/** Throws when a file is not a store that can be opened. SQLite itself would create a log and an index beside it first. */
export function checkHeader(path: string): void {
  const header = readHeader(path);
  if (header === null) refuseEmpty(path);
  else refuseHeader(header, path);
}

function refuseEmpty(path: string): void {
  if (statSync(path).size > 0) return;
  throw new LonghaulError(
    'store-incompatible',
    `${path} is empty: it lost its content; restore it, or remove it to create a new store`,
  );
}

function setUp(db: Database, durability: Durability): void {
  const mode = firstRow<readonly [string]>(db.prepare('PRAGMA journal_mode = WAL'))?.[0];
  if (mode !== 'wal')
    throw new LonghaulError(
      'store-incompatible',
      `the file system of the folder does not support a write-ahead log (${mode})`,
    );
  db.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`);
  db.exec(`PRAGMA cache_size = -${CACHE_KB}`);
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.exec(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
  db.exec('PRAGMA temp_store = MEMORY');
}

function checkVersion(db: Database): void {
  const version = firstRow<readonly [string]>(db.prepare('SELECT sqlite_version()'))?.[0] ?? '0';
  if (version.localeCompare(OLDEST_SQLITE, 'en', { numeric: true }) >= 0) return;
  throw new LonghaulError(
    'store-incompatible',
    `SQLite ${version} is too old: ${OLDEST_SQLITE} or newer is needed; install a newer @photostructure/sqlite`,
  );
}

function toOpenError(error: unknown, path: string): unknown {
  if (!isUnreadable(error)) return explain(error, path);
  const message = error instanceof Error ? error.message : String(error);
  return new LonghaulError(
    'store-incompatible',
    `${path} is damaged, is not a database, or cannot be read (${message}): check the disk, restore a backup, or move the file away to create a new store`,
    { cause: error },
  );
}

/** Syncs a file, or the entries of a folder. */
function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
