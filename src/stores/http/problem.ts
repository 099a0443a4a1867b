/** What went wrong between us and the server, as the errors that every store throws. */
import { ERROR_CODES, type ErrorCode, LonghaulError } from '../../core/ports/errors.ts';
import type { ProblemDetails, RequestCode } from '../../wire/problem-details.ts';

/** Nothing was sent, so nothing was done. */
export function unreachable(cause: unknown): LonghaulError {
  return new LonghaulError('store-unavailable', `the server cannot be reached: ${wordsOf(cause)}`, { cause });
}

/** The request may have arrived. A look that got lost has done nothing either way. */
export function lostReply(isLook: boolean, cause: unknown): LonghaulError {
  const code = isLook ? 'store-unavailable' : 'outcome-unknown';
  return new LonghaulError(code, `the server's answer was lost: ${wordsOf(cause)}`, { cause });
}

/**
 * What the server's own codes mean to a caller of a store. Refused before it was looked at: nothing was done. A token
 * that is not known may be known again later; only `too-large` is a fault of the call itself.
 */
const MEANINGS: Readonly<Record<RequestCode, ErrorCode>> = {
  'bad-request': 'store-incompatible',
  unauthenticated: 'store-unavailable',
  forbidden: 'refused',
  'no-such-address': 'store-incompatible',
  'method-not-allowed': 'store-incompatible',
  'too-slow': 'store-unavailable',
  'too-large': 'bad-input',
  'wrong-content-type': 'store-incompatible',
  'range-not-satisfiable': 'store-incompatible',
  'foreign-host': 'store-incompatible',
  'idempotency-key-reused': 'store-incompatible',
  'too-many-requests': 'store-unavailable',
  'headers-too-large': 'store-incompatible',
  internal: 'outcome-unknown',
  overloaded: 'store-unavailable',
  'node-away': 'store-unavailable',
};

export function problemOf(status: number, text: string, isLook: boolean): LonghaulError {
  const details = detailsIn(text);
  const code = details?.code ?? '';
  const known = ERROR_CODES.find((each) => each === code) ?? MEANINGS[code as RequestCode];
  if (details === null || known === undefined) {
    // Not our server: something between us and it, of which nobody knows whether it passed the call on.
    return lostReply(isLook, new Error(`status ${status}`));
  }
  // The server closes when it goes down; the next one will answer.
  const meant = known === 'store-closed' ? 'store-unavailable' : known;
  const { detail, problems } = details;
  return new LonghaulError(meant === 'outcome-unknown' && isLook ? 'store-unavailable' : meant, detail, {
    ...(problems !== undefined && { problems }),
  });
}

function detailsIn(text: string): ProblemDetails | null {
  try {
    const details = JSON.parse(text) as Partial<ProblemDetails> | null;
    return typeof details?.code === 'string' && typeof details.detail === 'string' ? (details as ProblemDetails) : null;
  } catch {
    return null;
  }
}

function wordsOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return message === '' ? (code ?? 'no reason was given') : message;
}
