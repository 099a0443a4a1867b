/** What the file system's errors mean to callers. Nothing else in blobs reads an errno. */
import { LonghaulError } from '../../core/ports/errors.ts';
import { SyncFailed } from './sync-file.ts';

const FULL = new Set(['ENOSPC', 'EDQUOT']);
const AWAY = new Set(['EIO', 'EROFS', 'ENODEV', 'ENXIO', 'ESTALE', 'EMFILE', 'ENFILE']);

export function errnoOf(error: unknown): string {
  return error instanceof Error ? String((error as NodeJS.ErrnoException).code ?? '') : '';
}

export const isMissing = (error: unknown): boolean => errnoOf(error) === 'ENOENT';

/** The error to throw in place of this one: `doing` says in words what was going on. */
export function fileError(error: unknown, doing: string): unknown {
  const errno = errnoOf(error instanceof SyncFailed ? error.cause : error);
  if (FULL.has(errno)) return new LonghaulError('store-full', `no space was left ${doing}`, { cause: error });
  if (AWAY.has(errno)) {
    return new LonghaulError('store-unavailable', `the disk answered ${errno} ${doing}`, { cause: error });
  }
  return error;
}

/** Runs the work; what the file system says against it is thrown in the words of Longhaul. */
export async function onDisk<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, doing);
  }
}

/** The answer, or null where there is no such file. */
export async function ifThere<T>(work: Promise<T>): Promise<T | null> {
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
