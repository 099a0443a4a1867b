/**
 * The one error class. Thrown: bad input, a store that is unavailable or incompatible, a lost reply. An expected "no"
 * is a refusal and is returned (refusal.ts).
 */
import type { Refusal } from './refusal.ts';

export const ERROR_CODES = [
  'bad-input',
  'refused',
  'store-unavailable',
  'store-incompatible',
  'store-full',
  'store-closed',
  'outcome-unknown',
  'job-ended-badly',
  'data-corrupt',
] as const;
/** The code of a `LonghaulError`. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** One problem of an input. */
export interface Problem {
  /** Where: `priority`, `tags[2]`, `backoff.delay`. Empty for the whole input. */
  readonly path: string;
  /** What is wrong. */
  readonly message: string;
}

interface ErrorOptionsOf {
  readonly cause?: unknown;
  readonly problems?: readonly Problem[];
  readonly refusal?: Refusal;
}

/** The error that Longhaul throws. Callers distinguish errors by `code`, never by message. */
export class LonghaulError extends Error {
  /** The kind of error. */
  readonly code: ErrorCode;
  /** With code `bad-input`: every problem of the input. */
  readonly problems: readonly Problem[];
  /** With code `refused`: the refusal, for callers that get no return value. */
  readonly refusal: Refusal | null;

  constructor(code: ErrorCode, message: string, options: ErrorOptionsOf = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LonghaulError';
    this.code = code;
    this.problems = options.problems ?? [];
    this.refusal = options.refusal ?? null;
  }
}

/** Creates a `bad-input` error with all problems of one input, each with its path. */
export function badInput(what: string, problems: readonly Problem[]): LonghaulError {
  const lines = problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  return new LonghaulError('bad-input', `${what}: ${lines.join('; ')}`, { problems });
}
