/**
 * Errors over HTTP: problem details (RFC 9457) with a code. The codes of errors and refusals come from the core; the
 * codes of HTTP requests are defined here. One table gives the status and title of each code.
 */
import type { ErrorCode, Problem } from '../core/ports/errors.ts';
import type { RefusalCode } from '../core/ports/refusal.ts';

export const REQUEST_CODES = [
  'bad-request',
  'unauthenticated',
  'forbidden',
  'no-such-address',
  'method-not-allowed',
  'too-slow',
  'too-large',
  'wrong-content-type',
  'range-not-satisfiable',
  'foreign-host',
  'idempotency-key-reused',
  'too-many-requests',
  'headers-too-large',
  'internal',
  'overloaded',
  'node-away',
] as const;
/** Problems of a request itself, independent of the operation. */
export type RequestCode = (typeof REQUEST_CODES)[number];
export type ProblemCode = RequestCode | RefusalCode | Exclude<ErrorCode, 'refused'>;

export interface ProblemDetails {
  /** The section of the API page that explains the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  /** With code `bad-input`: every problem with its path. */
  readonly problems?: readonly Problem[];
  /** The job that holds the unique key, if that is the reason. */
  readonly holder?: string;
  /** With code `has-dependents`: how many jobs depend on the job. */
  readonly dependents?: number;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** Status and title of each code. */
export const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  'bad-request': [400, 'The request is malformed'],
  'bad-input': [400, 'The request has invalid values'],
  unauthenticated: [401, 'The credentials are missing or invalid'],
  forbidden: [403, 'The role does not permit this operation'],
  'no-such-address': [404, 'No route has this path'],
  'not-found': [404, 'The resource does not exist'],
  'method-not-allowed': [405, 'The route does not support the method'],
  'too-slow': [408, 'The request arrived too slowly'],
  'wrong-state': [409, 'The state of the job does not allow this'],
  'step-limit': [409, 'The job has too many steps, or too large ones'],
  'moved-on': [409, 'The job has changed since it was read'],
  'lease-lost': [409, 'The lease is lost'],
  'key-taken': [409, 'The unique key is taken'],
  'has-dependents': [409, 'Other jobs depend on the job'],
  'bad-dependency': [409, 'The job cannot depend on these jobs'],
  'version-conflict': [409, 'The record was changed by another caller'],
  'worker-lost': [409, 'The worker is not registered'],
  'job-ended-badly': [409, 'The job failed or was cancelled'],
  'too-large': [413, 'The request is too large'],
  'wrong-content-type': [415, 'The content type is not supported'],
  'range-not-satisfiable': [416, 'The range is outside the content'],
  'foreign-host': [421, 'The server does not serve this host'],
  'idempotency-key-reused': [422, 'The Idempotency-Key was used for another request'],
  'too-many-requests': [429, 'Too many requests'],
  'headers-too-large': [431, 'The headers are too large'],
  internal: [500, 'Internal error'],
  'data-corrupt': [500, 'Data in the store is corrupt'],
  'store-incompatible': [500, 'The store has another version'],
  'store-moving': [503, 'The store is being migrated'],
  'queue-deleted': [409, 'The queue was deleted'],
  'queue-down': [503, 'The queue is down'],
  overloaded: [503, 'The server is overloaded'],
  'node-away': [503, 'The node that holds the files is not available'],
  'store-unavailable': [503, 'The store is unavailable'],
  'store-closed': [503, 'The server is shutting down'],
  'outcome-unknown': [504, 'The outcome is unknown'],
  'store-full': [507, 'The store has no space left'],
};

/** Returns the type URI of a code: a section of the API page. */
export function problemType(code: ProblemCode): string {
  return `/api#error-${code}`;
}
