/**
 * Errors as they travel: problem details (RFC 9457) with our codes. The codes of thrown errors and of refusals are the
 * core's own; those of HTTP itself are named here. One table says which status each has.
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
/** What is wrong with a request as such, whatever it asks for. */
export type RequestCode = (typeof REQUEST_CODES)[number];
export type ProblemCode = RequestCode | RefusalCode | Exclude<ErrorCode, 'refused'>;

export interface ProblemDetails {
  /** A place on the page of the API that explains the code. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: ProblemCode;
  /** Of code `bad-input`: everything that is wrong, each with its place. */
  readonly problems?: readonly Problem[];
  /** The job that stands in the way, where there is one. */
  readonly holder?: string;
  /** Of code `has-dependents`: how many jobs wait for it. */
  readonly dependents?: number;
}

export const PROBLEM_TYPE = 'application/problem+json';

/** Status and title of each code. */
export const PROBLEMS: Readonly<Record<ProblemCode, readonly [status: number, title: string]>> = {
  'bad-request': [400, 'The request is malformed'],
  'bad-input': [400, 'Something in the request is not what it must be'],
  unauthenticated: [401, 'Nobody is known by this token'],
  forbidden: [403, 'This role may not do that'],
  'no-such-address': [404, 'There is nothing at this address'],
  'not-found': [404, 'There is no such thing'],
  'method-not-allowed': [405, 'This address does not know the method'],
  'too-slow': [408, 'The request came too slowly'],
  'wrong-state': [409, 'The state of the job does not allow this'],
  'moved-on': [409, 'The job has moved on'],
  'lease-lost': [409, 'The lease is lost'],
  'key-taken': [409, 'The unique key is taken'],
  'has-dependents': [409, 'Other jobs wait for the job'],
  'bad-dependency': [409, 'The job cannot wait for these jobs'],
  'version-conflict': [409, 'Somebody else changed it in the meantime'],
  'worker-lost': [409, 'The worker is not registered'],
  'job-ended-badly': [409, 'The job ended badly'],
  'too-large': [413, 'The request is too large'],
  'wrong-content-type': [415, 'This content type is not taken here'],
  'range-not-satisfiable': [416, 'The range is outside of the content'],
  'foreign-host': [421, 'This server does not answer for that host'],
  'idempotency-key-reused': [422, 'The Idempotency-Key was used for another request'],
  'too-many-requests': [429, 'Too many requests'],
  'headers-too-large': [431, 'The headers are too large'],
  internal: [500, 'Something went wrong in here'],
  'data-corrupt': [500, 'Data in the store are damaged'],
  'store-incompatible': [500, 'The store is of another version'],
  'store-moving': [503, 'The store is moving house'],
  'queue-deleted': [409, 'The queue was deleted'],
  'queue-down': [503, 'The queue is down'],
  overloaded: [503, 'The server is overloaded'],
  'node-away': [503, 'The node that has it is not there'],
  'store-unavailable': [503, 'The store cannot be reached'],
  'store-closed': [503, 'The server is going down'],
  'outcome-unknown': [504, 'The outcome is unknown'],
  'store-full': [507, 'There is no space left'],
};

/** The kind of problem as an address: a place on the page of the API. */
export function problemType(code: ProblemCode): string {
  return `/api#error-${code}`;
}
