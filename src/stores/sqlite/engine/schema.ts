/**
 * The schema of the database: numbered, forward-only schema steps, applied in one transaction.
 *
 * Invariant: a database of another program, or of a newer schema, is not changed.
 */
import { readFileSync } from 'node:fs';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { FileHeader } from './file-header.ts';
import type { Database } from './sqlite-database.ts';
import { firstRow } from './sqlite-database.ts';

/** "LONG": the application id of a Longhaul store. */
const APPLICATION_ID = 0x4c4f4e47;

/** Each step upgrades the schema by one version. */
const STEPS: readonly URL[] = ['001', '002', '003', '004', '005', '006'].map(
  (step) => new URL(`../schema/${step}.sql`, import.meta.url),
);

export const SCHEMA_VERSION = STEPS.length;
const OLDEST_VERSION = 1;

export function applySchema(db: Database): void {
  upgrade(db, 0);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
}

/** Upgrades a Longhaul store to the newest schema, or throws why it cannot be used. */
export function checkSchema(db: Database, path: string): void {
  refuseSchema(db, path);
  upgradeSchema(db);
}

/** Throws when the database is not a Longhaul store, or has a schema that this version does not know. */
export function refuseSchema(db: Database, path: string): void {
  refuseHeader({ applicationId: number(db, 'application_id'), userVersion: number(db, 'user_version') }, path);
}

export function refuseHeader({ applicationId, userVersion: version }: FileHeader, path: string): void {
  if (applicationId !== APPLICATION_ID)
    throw new LonghaulError(
      'store-incompatible',
      `${path} is a SQLite database, but not a Longhaul store: name another folder for the store`,
    );
  if (version > SCHEMA_VERSION || version < OLDEST_VERSION)
    throw new LonghaulError(
      'store-incompatible',
      `${path} has schema ${version}, and this version of Longhaul knows schemas ${OLDEST_VERSION} to ${SCHEMA_VERSION}; ` +
        'use the version of Longhaul that wrote it, or a newer one',
    );
}

export function upgradeSchema(db: Database): void {
  const version = number(db, 'user_version');
  if (version < SCHEMA_VERSION) upgrade(db, version);
}

/** Returns whether the application id is that of a Longhaul store. */
export function isOurs(db: Database): boolean {
  return number(db, 'application_id') === APPLICATION_ID;
}

function upgrade(db: Database, version: number): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const step of STEPS.slice(version)) db.exec(readFileSync(step, 'utf8'));
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    db.exec('COMMIT');
  } catch (error) {
    // A failing disk has already ended the transaction: the error of a second end would hide the first.
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function number(db: Database, pragma: string): number {
  return firstRow<readonly [number]>(db.prepare(`PRAGMA ${pragma}`))?.[0] ?? 0;
}
