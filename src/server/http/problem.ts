/**
 * Maps errors to answers. A refused request is thrown as `RequestRefused`, at any depth; `refusedReply` turns a refusal of
 * the store into an answer.
 *
 * An answer never contains a stack trace, a local path or the message of an unexpected error.
 */
import type { Problem } from '../../core/ports/errors.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Refusal } from '../../core/ports/refusal.ts';
import type { ProblemCode, ProblemDetails } from '../../wire/problem-details.ts';
import { PROBLEM_TYPE, PROBLEMS, problemType } from '../../wire/problem-details.ts';
import type { Reply } from './reply.ts';

/** The Retry-After of temporary problems, in seconds. */
const RETRY_AFTER = '5';
const TEMPORARY: ReadonlySet<ProblemCode> = new Set([
  'queue-down',
  'store-moving',
  'store-unavailable',
  'overloaded',
  'too-many-requests',
]);

export class RequestRefused extends Error {
  readonly reply: Reply;

  constructor(reply: Reply, message: string) {
    super(message);
    this.name = 'RequestRefused';
    this.reply = reply;
  }
}

interface ProblemOptions {
  readonly problems?: readonly Problem[];
  readonly holder?: string;
  readonly dependents?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends the request with this problem: `throw refuseRequest('too-large', 'more than 1 MiB')`. */
export function refuseRequest(code: ProblemCode, detail: string, more: ProblemOptions = {}): RequestRefused {
  return new RequestRefused(problemReply(code, detail, more), detail);
}

export function problemReply(code: ProblemCode, detail: string, { headers, ...more }: ProblemOptions = {}): Reply {
  const [status, title] = PROBLEMS[code];
  const details: ProblemDetails = { type: problemType(code), title, status, detail, code, ...more };
  return {
    status,
    headers: { 'content-type': PROBLEM_TYPE, ...(TEMPORARY.has(code) && { 'retry-after': RETRY_AFTER }), ...headers },
    body: { kind: 'json', value: details },
  };
}

export function refusedReply({ code, message, ...more }: Refusal): Reply {
  return problemReply(code, message, more);
}

/** Returns the answer for a thrown error; null for an unexpected one, whose details belong only in the log. */
export function replyOfError(error: unknown): Reply | null {
  if (error instanceof RequestRefused) return error.reply;
  if (!(error instanceof LonghaulError)) return null;
  if (error.code === 'refused') {
    return error.refusal === null ? problemReply('wrong-state', error.message) : refusedReply(error.refusal);
  }
  return problemReply(error.code, error.message, error.problems.length > 0 ? { problems: error.problems } : {});
}
