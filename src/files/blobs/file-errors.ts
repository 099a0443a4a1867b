/** Maps file system errors to errors of Longhaul. No other file of this folder maps an errno to an error code. */
import { LonghaulError } from '../../core/ports/errors.ts';
import { SyncFailed } from './sync-file.ts';

const FULL = new Set(['ENOSPC', 'EDQUOT']);
const UNAVAILABLE = new Set(['EIO', 'EROFS', 'ENODEV', 'ENXIO', 'ESTALE', 'EMFILE', 'ENFILE']);

export function errnoOf(error: unknown): string {
  return error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? '') : '';
}

export const isMissing = (error: unknown): boolean => errnoOf(error) === 'ENOENT';

/** Returns the error to throw in place of this one; `doing` describes the operation. */
export function fileError(error: unknown, doing: string): unknown {
  const errno = errnoOf(error instanceof SyncFailed ? error.cause : error);
  if (FULL.has(errno)) return new LonghaulError('store-full', `no space left on the disk ${doing}`, { cause: error });
  if (UNAVAILABLE.has(errno)) {
    return new LonghaulError('store-unavailable', `disk error ${errno} ${doing}`, { cause: error });
  }
  return error;
}

/** Runs the work and converts its file system errors. */
export async function withDiskErrors<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, doing);
  }
}

/** Returns the result, or null when the file does not exist. */
export async function ifExists<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

export function corrupt(sha256: string, how: string): LonghaulError {
  return new LonghaulError('data-corrupt', `attachment ${sha256} is damaged on disk: ${how}`);
}
