/**
 * What a failed command means to its caller: nothing was done, or nobody knows.
 *
 * An error that the server answers begins with a word that is its code. A reply that never came counts as unknown
 * unless it is known that nothing was done.
 */
import { type ErrorCode, LonghaulError } from '../../../core/ports/errors.ts';
import type { Library } from './client-library.ts';

/** Answers by which the server says that it wrote nothing; docs/redis.md has them as a table. */
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

/** Answers of a server that is the primary no longer, or not of this namespace: another must be found. */
const ELSEWHERE: ReadonlySet<string> = new Set(['READONLY', 'MOVED', 'ASK', 'MASTERDOWN', 'CLUSTERDOWN', 'UNBLOCKED']);

/** Stopped because the slot is on its way to another node. There is no word for it, only this sentence of the server's. */
const SLOT_MOVES = /Script attempted to access a non local key/;

/**
 * Missing rights inside of a script, in the wording of Redis 6.2 and 7.0 and in that of 7.2. The server checks them for
 * each command, so the script may have written something before: the outcome is unknown, and a repeat finishes it.
 */
const LACKS_RIGHTS_INSIDE = /The user executing the script (?:can't|is lacking)|ACL failure in script/;

/** The word with which the server's answer begins, or the answer to the command in a script that it stopped; else empty. */
export function errorWord(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return /^(?:ERR Error running script .*?: -)?([A-Z]+)(?= |$)/.exec(error.message)?.[1] ?? '';
}

export const isNoScript = (error: unknown): boolean => errorWord(error) === 'NOSCRIPT';
export const leadsElsewhere = (error: unknown): boolean => ELSEWHERE.has(errorWord(error));

/** `opening` and `look` change nothing, so that a lost answer is no loss to them. */
export type Asked = 'opening' | 'look' | 'change';

export function toProblem(error: unknown, library: Library, asked: Asked): LonghaulError {
  if (error instanceof LonghaulError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = codeOf(cause, library, asked) ?? (asked === 'change' ? 'outcome-unknown' : 'store-unavailable');
  return new LonghaulError(code, wordsOf(code, cause), { cause });
}

/**
 * A script that the server began and could not end is no lost reply, and made again it would end alike: there is
 * something under the keys that Longhaul did not write, or a bug.
 */
function codeOf(error: Error, library: Library, asked: Asked): ErrorCode | undefined {
  if (error instanceof library.ErrorReply) {
    const word = errorWord(error);
    if (word === 'UNBLOCKED' || isStoppedInside(error.message)) return undefined;
    const known = NOT_BEGUN[word];
    return known ?? (asked === 'opening' ? undefined : 'data-corrupt');
  }
  const neverSent = [library.ClientOfflineError, library.ClientClosedError];
  return neverSent.some((each) => error instanceof each) ? 'store-unavailable' : undefined;
}

const isStoppedInside = (message: string): boolean => SLOT_MOVES.test(message) || LACKS_RIGHTS_INSIDE.test(message);

function wordsOf(code: ErrorCode, { message }: Error): string {
  const because = message === '' ? '' : `: ${message}`;
  if (code === 'store-full') return `Redis takes no more${because}`;
  if (code === 'store-unavailable') return `Redis could not be asked, and nothing was done${because}`;
  if (code === 'data-corrupt') return `what stands in Redis is not what Longhaul wrote there${because}`;
  return `the answer of Redis was lost; the call may be repeated${because}`;
}
