/** From the answers of a port, which takes many, to the answer for one: a no ends the request with its words. */
import type { Refused } from '../../core/ports/refusal.ts';
import { RequestRefused, refusedReply } from './problem.ts';

export function mustBeOk<Result extends { readonly ok: true }>(results: readonly (Result | Refused)[]): Result {
  const [result] = results;
  if (result === undefined) throw new Error('a store answers every item of a call');
  if (!result.ok) throw new RequestRefused(refusedReply(result.refusal), result.refusal.message);
  return result;
}
