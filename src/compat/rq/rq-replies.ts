/** RQ's answers: `["ok", …]` and `["fail", reason]` with RQ's status codes, whatever went wrong underneath. */
import { LonghaulError } from '../../core/ports/errors.ts';
import { RequestRefused, replyOfError } from '../../server/http/problem.ts';
import type { Reply } from '../../server/http/reply.ts';
import { json } from '../../server/http/reply.ts';
import type { Call } from '../../server/http/route.ts';

const SEE_OTHER = 303;

export const ok = (what: string): Reply => json(['ok', what]);
export const fail = (why: string, status = 400): Reply => json(['fail', why], status);
/** RQ answers 200 to a request that it understood, and says in the body that it did nothing. */
export const refusal = (why: string): Reply => fail(why, 200);

/** To the page for people, as RQ's forms are answered; `say` goes along for clients that look for the words. */
export function seeOther(address: string, say = ''): Reply {
  const headers = { location: address, 'content-type': 'text/plain; charset=utf-8' };
  return { status: SEE_OTHER, headers, body: { kind: 'text', text: say } };
}

/** Where a form wants to go back to: a place of this node and nowhere else. */
export function backOf({ back = '' }: Readonly<Record<string, string>>, otherwise: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(back) ? back : otherwise;
}

/** What is thrown becomes RQ's `fail`; what nobody foresaw stays the server's to tell. */
export function inRqWords(handle: (call: Call) => Promise<Reply>): (call: Call) => Promise<Reply> {
  return async (call) => {
    try {
      return await handle(call);
    } catch (error) {
      const reply = error instanceof LonghaulError || error instanceof RequestRefused ? replyOfError(error) : null;
      if (reply === null) throw error;
      return { ...fail((error as Error).message, statusIn(reply)), headers: headersOf(reply) };
    }
  };
}

/** RQ knows few codes: a no to what was asked is 400. */
function statusIn({ status }: Reply): number {
  return [403, 404, 413, 503, 507].includes(status) ? status : 400;
}

function headersOf({ headers = {} }: Reply): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'retry-after' || name === 'connection'),
  );
}
