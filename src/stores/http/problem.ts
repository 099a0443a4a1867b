/** Maps HTTP failures to the errors that every store throws. */
import { ERROR_CODES, type ErrorCode, LonghaulError } from '../../core/ports/errors.ts';
import type { ProblemDetails, RequestCode } from '../../wire/problem-details.ts';

/** No request was sent, so the call had no effect. */
export function unreachable(cause: unknown): LonghaulError {
  return new LonghaulError('store-unavailable', `cannot reach the server: ${messageOf(cause)}`, { cause });
}

/** The request may have arrived. A lost read had no effect either way. */
export function lostReply(isRead: boolean, cause: unknown): LonghaulError {
  const code = isRead ? 'store-unavailable' : 'outcome-unknown';
  return new LonghaulError(code, `the server's answer was lost: ${messageOf(cause)}`, { cause });
}

/**
 * Maps the server's request codes to store errors. The server refuses such a request before it has an effect. An unknown
 * token may become valid later, so it counts as unavailable; only `too-large` is a fault of the call itself.
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

export function problemOf(status: number, text: string, isRead: boolean): LonghaulError {
  const details = detailsIn(text);
  const code = details?.code ?? '';
  const known = ERROR_CODES.find((each) => each === code) ?? MEANINGS[code as RequestCode];
  if (details === null || known === undefined) {
    // The answer is from a proxy in between; it is unknown whether the proxy forwarded the call.
    return lostReply(isRead, new Error(`status ${status}`));
  }
  // The server is shutting down; its successor will answer.
  const meant = known === 'store-closed' ? 'store-unavailable' : known;
  const { detail, problems } = details;
  return new LonghaulError(meant === 'outcome-unknown' && isRead ? 'store-unavailable' : meant, detail, {
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

function messageOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return message === '' ? (code ?? 'unknown reason') : message;
}
