/**
 * Maps the error of a command to a code: nothing was done, or the outcome is unknown.
 *
 * The answer of a server to a failed command begins with a code. A lost reply is `outcome-unknown`, unless the command
 * certainly had no effect.
 */
import { type ErrorCode, LonghaulError } from '../../../core/ports/errors.ts';
import { ErrorReply } from './protocol.ts';
import { NotSentError } from './redis-client.ts';

/** Error codes of a server that wrote nothing; docs/redis.md lists them. */
export const NOT_BEGUN: Readonly<Record<string, ErrorCode>> = {
  OOM: 'store-full',
  MISCONF: 'store-full',
  LOADING: 'store-unavailable',
  BUSY: 'store-unavailable',
  READONLY: 'store-unavailable',
  MASTERDOWN: 'store-unavailable',
  NOREPLICAS: 'store-unavailable',
  CLUSTERDOWN: 'store-unavailable',
  TRYAGAIN: 'store-unavailable',
  MOVED: 'store-unavailable',
  ASK: 'store-unavailable',
  NOAUTH: 'store-unavailable',
  WRONGPASS: 'store-unavailable',
  NOPERM: 'store-unavailable',
};

/** Error codes of a server that is no longer the primary of this namespace. */
const ELSEWHERE: ReadonlySet<string> = new Set(['READONLY', 'MOVED', 'ASK', 'MASTERDOWN', 'CLUSTERDOWN', 'UNBLOCKED']);

/** A script that was stopped because its slot is moving to another node. It has no code, only this message. */
const SLOT_MOVES = /Script attempted to access a non local key/;

/**
 * Missing rights inside a script, in the messages of Redis 6.2, 7.0 and 7.2. The server checks them for each command, so
 * the script may have written before: the outcome is unknown, and a repeat completes it.
 */
const LACKS_RIGHTS_INSIDE = /The user executing the script (?:can't|is lacking)|ACL failure in script/;

/** Returns the code of a server's error, or that of the command in a script that it stopped; else an empty text. */
export function errorWord(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return /^(?:ERR Error running script .*?: -)?([A-Z]+)(?= |$)/.exec(error.message)?.[1] ?? '';
}

export const isNoScript = (error: unknown): boolean => errorWord(error) === 'NOSCRIPT';
/** Whether the server does not permit a command, or does not know it. */
export const isForbidden = (error: unknown): boolean => ['NOPERM', 'ERR'].includes(errorWord(error));
export const leadsElsewhere = (error: unknown): boolean => ELSEWHERE.has(errorWord(error));

/** What the command was for. `opening` and `read` change nothing, so a lost reply is harmless. */
export type Purpose = 'opening' | 'read' | 'change';

export function toProblem(error: unknown, purpose: Purpose): LonghaulError {
  if (error instanceof LonghaulError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = codeOf(cause, purpose) ?? (purpose === 'change' ? 'outcome-unknown' : 'store-unavailable');
  return new LonghaulError(code, messageOf(code, cause), { cause });
}

/**
 * A script that failed on the server would fail again: the keys hold something that Longhaul did not write, or there is
 * a bug.
 */
function codeOf(error: Error, purpose: Purpose): ErrorCode | undefined {
  if (error instanceof ErrorReply) {
    const word = errorWord(error);
    if (word === 'UNBLOCKED' || isStoppedInside(error.message)) return undefined;
    const known = NOT_BEGUN[word];
    return known ?? (purpose === 'opening' ? undefined : 'data-corrupt');
  }
  return error instanceof NotSentError ? 'store-unavailable' : undefined;
}

const isStoppedInside = (message: string): boolean => SLOT_MOVES.test(message) || LACKS_RIGHTS_INSIDE.test(message);

function messageOf(code: ErrorCode, { message }: Error): string {
  const because = message === '' ? '' : `: ${message}`;
  if (code === 'store-full') return `Redis takes no more${because}`;
  if (code === 'store-unavailable') return `Redis could not be asked, and nothing was done${because}`;
  if (code === 'data-corrupt') return `what stands in Redis is not what Longhaul wrote there${because}`;
  return `the answer of Redis was lost; the call may be repeated${because}`;
}
