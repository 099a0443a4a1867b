/**
 * Translates errors of SQLite and the file system into errors for callers, by their code and never by their text.
 *
 * Invariant: no SQLite error reaches a caller without a Longhaul error code, except one that only a bug can cause.
 */
import { accessSync, constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { dirname } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { accessErrorMessage } from '../../../core/input/no-access.ts';
import type { ErrorCode } from '../../../core/ports/errors.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';

const PERM = 3;
const ABORT = 4;
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const INTERRUPT = 9;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const TOOBIG = 18;
const MISUSE = 21;
const NOLFS = 22;
const RANGE = 25;
const NOTADB = 26;
const CONSTRAINT_CHECK = 275;
const CONSTRAINT_UNIQUE = 2067;
const IOERR_FSYNC = 1034;
const IOERR_DIR_FSYNC = 1290;
/** The shared memory file beside the database could not grow: the disk is full. */
const IOERR_SHMSIZE = 4874;

/** The error code, and the parts of the message before and after the text of SQLite. */
interface Meaning {
  readonly code: ErrorCode;
  readonly what: string;
  readonly remedy: string;
}

const DISK: Meaning = {
  code: 'store-unavailable',
  what: 'cannot be read or written',
  remedy: 'check the disk and the rights of the folder',
};
const TAKEN: Meaning = { code: 'store-unavailable', what: 'is in use', remedy: 'try again' };
const DAMAGED: Meaning = {
  code: 'data-corrupt',
  what: 'is damaged',
  remedy: 'run longhaul doctor --deep, and restore a backup if it finds damage',
};
const MEANINGS: ReadonlyMap<number, Meaning> = new Map([
  [PERM, DISK],
  [READONLY, DISK],
  [IOERR, DISK],
  [CANTOPEN, DISK],
  [NOLFS, DISK],
  [BUSY, TAKEN],
  [LOCKED, TAKEN],
  [PROTOCOL, TAKEN],
  [NOMEM, { code: 'store-unavailable', what: 'cannot be used', remedy: 'give the process more memory' }],
  [
    TOOBIG,
    { code: 'bad-input', what: 'cannot store a text of this length', remedy: 'keep large data in an attachment' },
  ],
]);
/** A statement is wrong or was interrupted: not a fault of the file. */
const OURS: ReadonlySet<number> = new Set([ABORT, INTERRUPT, MISUSE, RANGE]);

/** Returns the primary result code, or undefined if the error is not from SQLite. */
function codeOf(error: unknown): number | undefined {
  const code = extendedCodeOf(error);
  return code === undefined ? undefined : code & 0xff;
}

function extendedCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  const { errcode, sqliteExtendedCode } = error as { errcode?: number; sqliteExtendedCode?: number };
  return sqliteExtendedCode ?? errcode;
}

export function isBusy(error: unknown): boolean {
  return codeOf(error) === BUSY;
}

/** A row would violate a CHECK constraint: nothing was done. */
export function isForbidden(error: unknown): boolean {
  return extendedCodeOf(error) === CONSTRAINT_CHECK;
}

/** A row would repeat a value of a unique index: nothing was done. */
export function isDuplicate(error: unknown): boolean {
  return extendedCodeOf(error) === CONSTRAINT_UNIQUE;
}

export function isFull(error: unknown): boolean {
  const errno = errnoOf(error);
  return codeOf(error) === FULL || cannotGrow(error) || errno === 'ENOSPC' || errno === 'EDQUOT';
}

/** A disk that fails has the same error of SQLite, and another one of the system. */
function cannotGrow(error: unknown): boolean {
  return (
    extendedCodeOf(error) === IOERR_SHMSIZE && (error as { systemErrno?: number }).systemErrno !== osConstants.errno.EIO
  );
}

/** Returns `EACCES` and the like if the error is from the file system. */
function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The disk failed during an operation. */
export function isInputOutput(error: unknown): boolean {
  return codeOf(error) === IOERR && !isFull(error);
}

/** A sync failed: written pages may be on the disk or not, and a second sync cannot show which. */
export function isSync(error: unknown): boolean {
  const code = extendedCodeOf(error);
  return code === IOERR_FSYNC || code === IOERR_DIR_FSYNC;
}

/** Returns an error like that of a failed sync inside SQLite. */
export function toSyncProblem(cause: unknown): Error {
  const { errno = 0 } = cause as NodeJS.ErrnoException;
  const error = new Error('disk I/O error', { cause });
  return Object.assign(error, {
    sqliteCodeName: 'SQLITE_IOERR',
    sqliteExtendedCode: IOERR_FSYNC,
    systemErrno: Math.abs(errno),
  });
}

/** The disk or its permissions make the file unusable. A full disk and a lock do not count. */
export function isDiskFault(error: unknown): boolean {
  if (isFull(error)) return false;
  const code = codeOf(error);
  return errnoOf(error) !== undefined || (code !== undefined && MEANINGS.get(code) === DISK);
}

/** The file is damaged, is not a database, or could not be read: SQLite has one error for all of them. */
export function isUnreadable(error: unknown): boolean {
  const code = codeOf(error);
  return code === NOTADB || code === CORRUPT;
}

/**
 * Repeats work whose reads seem to find damage: SQLite reports a single read that fails with EIO in the same way. The work
 * undoes what it did before it throws.
 */
export function readTwice<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return work();
  }
}

/** Returns why the folder cannot be written, or null. SQLite does not report the reason, so access is checked here. */
function noAccessTo(error: unknown, path: string): string | null {
  const code = codeOf(error);
  const isOfFile = code === READONLY || code === CANTOPEN;
  const errno = errnoOf(error) ?? (isOfFile ? errnoOfAccess(path) : undefined);
  return errno === undefined ? null : accessErrorMessage(errno, dirname(path));
}

function errnoOfAccess(path: string): string | undefined {
  for (const place of [dirname(path), path]) {
    try {
      accessSync(place, constants.R_OK | constants.W_OK);
    } catch (error) {
      return errnoOf(error);
    }
  }
  return undefined;
}

/** The error for the caller when an unreadable file is known to be a disk fault. */
export function unreadable(error: unknown, path: string): LonghaulError {
  return new LonghaulError(DISK.code, `${path} ${DISK.what}: ${describeFault(error)}; ${DISK.remedy}`, {
    cause: error,
  });
}

/** Returns the error of calls whose commit or fsync failed: a restart may find their changes or not. */
export function unknownOutcome(error: unknown, path: string): LonghaulError {
  return new LonghaulError('outcome-unknown', `${path}: the disk failed during the commit: ${describeProblem(error)}`, {
    cause: error,
  });
}

/** Describes an error with its SQLite and system names: `disk I/O error (SQLITE_IOERR 266, EIO)`. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { sqliteCodeName, systemErrno } = error as { sqliteCodeName?: string; systemErrno?: number };
  if (sqliteCodeName === undefined) return error.message;
  const extended = extendedCodeOf(error) ?? 0;
  const names = [extended > 0xff ? `${sqliteCodeName} ${extended}` : sqliteCodeName];
  // For other errors the number is a leftover of an earlier error.
  const isSystem = codeOf(error) === IOERR || codeOf(error) === CANTOPEN;
  if (isSystem && systemErrno !== undefined && systemErrno > 0) names.push(getSystemErrorName(-systemErrno));
  return `${error.message} (${names.join(', ')})`;
}

/** Describes a disk fault. The text of SQLite for a failed read claims damage, which may not exist. */
export function describeFault(error: unknown): string {
  return isUnreadable(error) ? 'reads fail, or find damage (SQLITE_CORRUPT)' : describeProblem(error);
}

/** Returns the error for the caller. Errors from neither Longhaul, SQLite nor the file system are returned unchanged. */
export function explain(error: unknown, path: string): unknown {
  if (error instanceof LonghaulError) return error;
  if (isFull(error)) return new LonghaulError('store-full', `no space left for ${path}`, { cause: error });
  const denied = noAccessTo(error, path);
  if (denied !== null) return new LonghaulError('store-unavailable', denied, { cause: error });
  const meaning = meaningOf(error);
  if (meaning === undefined) return error;
  const { code, what, remedy } = meaning;
  return new LonghaulError(code, `${path} ${what}: ${describeProblem(error)}; ${remedy}`, { cause: error });
}

/** A statement that fails in any other way read something that no statement wrote: the file is damaged. */
function meaningOf(error: unknown): Meaning | undefined {
  if (errnoOf(error) !== undefined) return DISK;
  // The store checks JSON before it writes it.
  if (error instanceof SyntaxError) return DAMAGED;
  const code = codeOf(error);
  if (code === undefined || OURS.has(code)) return undefined;
  return MEANINGS.get(code) ?? DAMAGED;
}
