/**
 * What an error of SQLite or of the file system means for a caller. Decided by its code, never by its words.
 *
 * Invariant: no error of SQLite reaches a caller without a code of ours, except one that only a bug of ours can cause.
 */
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { noAccessWords } from '../../../core/input/no-access.ts';
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
const IOERR_FSYNC = 1034;
const IOERR_DIR_FSYNC = 1290;
/** The shared memory beside the database could not grow: this is how a full disk shows there. */
const IOERR_SHMSIZE = 4874;

/** What the message says before and after the words of SQLite. */
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
  [TOOBIG, { code: 'bad-input', what: 'takes no text of this length', remedy: 'keep large data in an attachment' }],
]);
/** A statement of ours is wrong, or was ended: that is no matter of the file. */
const OURS: ReadonlySet<number> = new Set([ABORT, INTERRUPT, MISUSE, RANGE]);

/** The number without its details, or undefined where the error is not SQLite's. */
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

/** A row would break a condition of its table: nothing was done. */
export function isForbidden(error: unknown): boolean {
  return extendedCodeOf(error) === CONSTRAINT_CHECK;
}

export function isFull(error: unknown): boolean {
  const errno = errnoOf(error);
  return codeOf(error) === FULL || extendedCodeOf(error) === IOERR_SHMSIZE || errno === 'ENOSPC' || errno === 'EDQUOT';
}

/** `EACCES` and the like, where the file system itself said no. */
function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** The disk failed in the middle of something. */
export function isInputOutput(error: unknown): boolean {
  return codeOf(error) === IOERR && !isFull(error);
}

/** What was written may be on the disk or not, and asking once more does not tell. */
export function isSync(error: unknown): boolean {
  const code = extendedCodeOf(error);
  return code === IOERR_FSYNC || code === IOERR_DIR_FSYNC;
}

/** The disk, or what the file system allows, keeps the file from being used; a full disk and a lock are other matters. */
export function isDiskFault(error: unknown): boolean {
  if (isFull(error)) return false;
  const code = codeOf(error);
  return errnoOf(error) !== undefined || (code !== undefined && MEANINGS.get(code) === DISK);
}

/** The file is damaged, is no database, or its disk failed to read: SQLite has one error for all of them. */
export function isUnreadable(error: unknown): boolean {
  const code = codeOf(error);
  return code === NOTADB || code === CORRUPT;
}

/** Why the folder of the file may not be written, or null. SQLite does not say which it is, so the system is asked. */
function noAccessTo(error: unknown, path: string): string | null {
  const code = codeOf(error);
  const isOfFile = code === READONLY || code === CANTOPEN;
  const errno = errnoOf(error) ?? (isOfFile ? errnoOfAccess(path) : undefined);
  return errno === undefined ? null : noAccessWords(errno, dirname(path));
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

/** For one that is known to be the disk's. */
export function unreadable(error: unknown, path: string): LonghaulError {
  return new LonghaulError(DISK.code, `${path} ${DISK.what}: ${describeFault(error)}; ${DISK.remedy}`, {
    cause: error,
  });
}

/** In words, with the names by which SQLite and the system know it: `disk I/O error (SQLITE_IOERR 266, EIO)`. */
export function describeProblem(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { sqliteCodeName, systemErrno } = error as { sqliteCodeName?: string; systemErrno?: number };
  if (sqliteCodeName === undefined) return error.message;
  const extended = extendedCodeOf(error) ?? 0;
  const names = [extended > 0xff ? `${sqliteCodeName} ${extended}` : sqliteCodeName];
  // Of other errors it is a number that an earlier one left behind.
  const isSystem = codeOf(error) === IOERR || codeOf(error) === CANTOPEN;
  if (isSystem && systemErrno !== undefined && systemErrno > 0) names.push(getSystemErrorName(-systemErrno));
  return `${error.message} (${names.join(', ')})`;
}

/** Of a fault of the disk. The words of SQLite for a read that failed speak of damage, which may not be there. */
export function describeFault(error: unknown): string {
  return isUnreadable(error) ? 'reads fail, or find damage (SQLITE_CORRUPT)' : describeProblem(error);
}

/** What is thrown to the caller; what is neither ours nor SQLite's stays as it is. */
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

/** A statement that fails in any other way found what no statement wrote. */
function meaningOf(error: unknown): Meaning | undefined {
  if (errnoOf(error) !== undefined) return DISK;
  // Texts of the store are JSON that was checked before it was written.
  if (error instanceof SyntaxError) return DAMAGED;
  const code = codeOf(error);
  if (code === undefined || OURS.has(code)) return undefined;
  return MEANINGS.get(code) ?? DAMAGED;
}
