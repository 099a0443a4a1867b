/** RQ's answers: `["ok", …]` and `["fail", reason]` with RQ's status codes, whatever went wrong underneath. */
import { LonghaulError } from '../../core/ports/errors.ts';
import { RequestRefused, replyOfError } from '../../server/http/problem.ts';
import type { Reply } from '../../server/http/reply.ts';
import { json } from '../../server/http/reply.ts';
import type { Call } from '../../server/http/route.ts';

const SEE_OTHER = 303;

export const ok = (what: string): Reply => json(['ok', what]);
export const fail = (why: string, status = 400): Reply => json(['fail', why], status);
/** A refusal in RQ's form: status 200, with `fail` and the reason in the body. */
export const refusal = (why: string): Reply => fail(why, 200);

/** Redirects to a page of the web UI, as RQ answers forms. `notice` is the body, for clients that search it for a text. */
export function seeOther(address: string, notice = ''): Reply {
  const headers = { location: address, 'content-type': 'text/plain; charset=utf-8' };
  return { status: SEE_OTHER, headers, body: { kind: 'text', text: notice } };
}

/** Answers a form: with RQ's reply if `x_format` is `json`, else with a redirect to `back` or to the path. */
export function answerForm(fields: Readonly<Record<string, string>>, reply: Reply, path: string): Reply {
  return fields['x_format'] === 'json' ? reply : seeOther(backOf(fields, path));
}

/** Returns the field `back` of a form if it is a path of this node. */
export function backOf({ back = '' }: Readonly<Record<string, string>>, otherwise: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(back) ? back : otherwise;
}

/** Answers refused requests and bad input with RQ's `fail`; the server handles all other errors. */
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

/** RQ uses few codes: other refusals are 400. */
function statusIn({ status }: Reply): number {
  return [403, 404, 413, 503, 507].includes(status) ? status : 400;
}

function headersOf({ headers = {} }: Reply): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => name === 'retry-after' || name === 'connection'),
  );
}
