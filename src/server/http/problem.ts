/**
 * From what went wrong to an answer. A request that is refused as such is thrown as `RequestRefused`, from wherever that
 * is found out; an expected no of the store becomes an answer by `refusedReply`.
 *
 * A stack trace, a path of this machine or the words of a foreign error never go out.
 */
import type { Problem } from '../../core/ports/errors.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Refusal } from '../../core/ports/refusal.ts';
import type { ProblemCode, ProblemDetails } from '../../wire/problem-details.ts';
import { PROBLEM_TYPE, PROBLEMS, problemType } from '../../wire/problem-details.ts';
import type { Reply } from './reply.ts';

/** When to come back, in seconds, after a no that time alone may change. */
const RETRY_AFTER = '5';
const PASSING: ReadonlySet<ProblemCode> = new Set([
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

interface More {
  readonly problems?: readonly Problem[];
  readonly holder?: string;
  readonly dependents?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends the request with this problem: `throw refuseRequest('too-large', 'more than 1 MiB')`. */
export function refuseRequest(code: ProblemCode, detail: string, more: More = {}): RequestRefused {
  return new RequestRefused(problemReply(code, detail, more), detail);
}

export function problemReply(code: ProblemCode, detail: string, { headers, ...more }: More = {}): Reply {
  const [status, title] = PROBLEMS[code];
  const details: ProblemDetails = { type: problemType(code), title, status, detail, code, ...more };
  return {
    status,
    headers: { 'content-type': PROBLEM_TYPE, ...(PASSING.has(code) && { 'retry-after': RETRY_AFTER }), ...headers },
    body: { kind: 'json', value: details },
  };
}

export function refusedReply({ code, message, ...more }: Refusal): Reply {
  return problemReply(code, message, more);
}

/** What a thrown thing means to the caller. Null: nobody foresaw it, and only the log may say what it was. */
export function replyOfError(error: unknown): Reply | null {
  if (error instanceof RequestRefused) return error.reply;
  if (!(error instanceof LonghaulError)) return null;
  if (error.code === 'refused') {
    return error.refusal === null ? problemReply('wrong-state', error.message) : refusedReply(error.refusal);
  }
  return problemReply(error.code, error.message, error.problems.length > 0 ? { problems: error.problems } : {});
}
