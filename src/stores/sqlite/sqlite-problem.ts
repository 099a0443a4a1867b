/** What an error of SQLite or of the file system means for a caller. Decided by its code, never by its words. */
import { accessSync, constants } from 'node:fs';
import { dirname } from 'node:path';
import { LonghaulError } from '../../core/errors.ts';
import { noAccessWords } from '../../core/no-access.ts';

const BUSY = 5;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;
const CONSTRAINT_CHECK = 275;
/** The shared memory beside the database could not grow: this is how a full disk shows there. */
const IOERR_SHMSIZE = 4874;

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

/** The disk did not do what it was told, so nobody knows what is on it. */
export function isInputOutput(error: unknown): boolean {
  return codeOf(error) === IOERR && !isFull(error);
}

export function isNoDatabase(error: unknown): boolean {
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

/** What is thrown to the caller; what is neither ours nor SQLite's stays as it is. */
export function explain(error: unknown, path: string): unknown {
  if (error instanceof LonghaulError) return error;
  const words = error instanceof Error ? error.message : String(error);
  if (isFull(error)) return new LonghaulError('store-full', `no space left for ${path}`, { cause: error });
  const denied = noAccessTo(error, path);
  if (denied !== null) return new LonghaulError('store-unavailable', denied, { cause: error });
  if (errnoOf(error) !== undefined)
    return new LonghaulError('store-unavailable', `${path}: ${words}`, { cause: error });
  switch (codeOf(error)) {
    case undefined:
      return error;
    case CORRUPT:
    case NOTADB:
      return new LonghaulError('data-corrupt', `${path} is damaged: ${words}`, { cause: error });
    case BUSY:
    case IOERR:
    case READONLY:
    case CANTOPEN:
      return new LonghaulError('store-unavailable', `${path}: ${words}`, { cause: error });
    default:
      return error;
  }
}
