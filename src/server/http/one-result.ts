/** Returns the only result of a store call for one item. A refusal ends the request. */
import type { Refused } from '../../core/ports/refusal.ts';
import { RequestRefused, refusedReply } from './problem.ts';

export function mustBeOk<Result extends { readonly ok: true }>(results: readonly (Result | Refused)[]): Result {
  const [result] = results;
  if (result === undefined) throw new Error('a store must return a result for every item of a call');
  if (!result.ok) throw new RequestRefused(refusedReply(result.refusal), result.refusal.message);
  return result;
}
