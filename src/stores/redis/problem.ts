/**
 * What a failed command means to its caller: nothing was done, or nobody knows.
 *
 * An error that the server answers begins with a word that is its code. Whatever is not known to have done nothing
 * counts as unknown.
 */
import { type ErrorCode, LonghaulError } from '../../core/errors.ts';
import type { Library } from './client-library.ts';

/** Thrown when a command got no answer within its deadline. */
export class DeadlineError extends Error {}

/** Answers by which the server says that it did not even begin. */
const NOT_BEGUN: Readonly<Record<string, ErrorCode>> = {
  OOM: 'store-full',
  MISCONF: 'store-full',
  LOADING: 'store-unavailable',
  BUSY: 'store-unavailable',
  READONLY: 'store-unavailable',
  MASTERDOWN: 'store-unavailable',
  NOREPLICAS: 'store-unavailable',
  CLUSTERDOWN: 'store-unavailable',
  TRYAGAIN: 'store-unavailable',
  NOAUTH: 'store-unavailable',
  WRONGPASS: 'store-unavailable',
  NOPERM: 'store-unavailable',
};

export const isNoScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

export function toProblem(error: unknown, library: Library, isLook: boolean): LonghaulError {
  if (error instanceof LonghaulError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = codeOf(cause, library) ?? (isLook ? 'store-unavailable' : 'outcome-unknown');
  return new LonghaulError(code, wordsOf(code, cause), { cause });
}

function codeOf(error: Error, library: Library): ErrorCode | undefined {
  if (error instanceof library.ErrorReply) return NOT_BEGUN[error.message.split(' ', 1)[0] ?? ''];
  const neverSent = [library.ClientOfflineError, library.ClientClosedError];
  return neverSent.some((each) => error instanceof each) ? 'store-unavailable' : undefined;
}

function wordsOf(code: ErrorCode, { message }: Error): string {
  const because = message === '' ? '' : `: ${message}`;
  if (code === 'store-full') return `Redis takes no more${because}`;
  if (code === 'store-unavailable') return `Redis could not be asked, and nothing was done${because}`;
  return `the answer of Redis was lost; the call may be repeated${because}`;
}
