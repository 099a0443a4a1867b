/**
 * The log of an attempt, while it is written and afterwards: bytes by their range, lines as text, what is looked for,
 * and as it grows. Text is lossy where a log is no UTF-8; the bytes themselves are always to be had.
 */
import { fields, integer, listOf, oneOf, orNull, text } from '../../core/input/check.ts';
import { jobId } from '../../core/job/names.ts';
import type { LogPlace } from '../../node/attempts/log-position.ts';
import { parseLogPlace } from '../../node/attempts/log-position.ts';
import { refusedReply, refuseRequest } from '../http/problem.ts';
import { queryFlag, queryInteger } from '../http/query-checks.ts';
import type { Reply } from '../http/reply.ts';
import { events, json } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { tellLog } from '../streams/log-messages.ts';
import { attemptElsewhere } from '../views/from-other-node.ts';
import { attemptNumber, logPlace, searchPlace } from '../views/log-checks.ts';
import { nodeOf } from '../views/node-of.ts';
import { sendLog } from '../views/send-log.ts';

const PATH = '/api/jobs/{id}/attempts/{attempt}/log';
const MOST_LINES = 10_000;
const LINES = 1_000;
const MOST_MATCHES = 1_000;
const MATCHES = 100;
const whole = integer(0, Number.MAX_SAFE_INTEGER);
const anyText = text({ max: Number.MAX_SAFE_INTEGER });

const params = { id: jobId, attempt: attemptNumber };
type Params = { readonly id: string; readonly attempt: number | 'latest' };

export const logRoutes: readonly Route[] = [
  route({
    name: 'logs.read',
    method: 'GET',
    path: PATH,
    about: 'The log of an attempt: its bytes (Range), or with line and lines, or tail, its lines as JSON.',
    role: 'read',
    nodes: true,
    params,
    query: {
      line: queryInteger(1, Number.MAX_SAFE_INTEGER),
      lines: queryInteger(1, MOST_LINES),
      tail: queryInteger(1, MOST_LINES),
    },
    answer: 'bytes',
    handle: async (call) => (await elsewhere(call)) ?? read(call),
  }),
  route({
    name: 'logs.search',
    method: 'GET',
    path: `${PATH}/search`,
    about: 'Lines of a log that hold a text, or that fit an extended regular expression.',
    role: 'read',
    nodes: true,
    params,
    query: {
      q: text({ max: 1_000, pattern: /^[^\n\0]+$/, must: 'must be 1 to 1000 characters of one line' }),
      regex: queryFlag,
      ignoreCase: queryFlag,
      limit: queryInteger(1, MOST_MATCHES),
      after: searchPlace,
    },
    answer: fields({
      matches: listOf(fields({ line: whole, offset: whole, text: anyText, at: orNull(whole) }), MOST_MATCHES),
      stopped: orNull(oneOf('limit', 'time', 'expression')),
      message: orNull(anyText),
      next: orNull(anyText),
    }),
    handle: async (call) => (await elsewhere(call)) ?? search(call),
  }),
  route({
    name: 'logs.follow',
    method: 'GET',
    path: `${PATH}/events`,
    about: 'A log as it grows, to the end of its attempt. Goes on from Last-Event-ID, or from `from`.',
    role: 'read',
    nodes: true,
    params,
    query: { from: logPlace },
    answer: 'events',
    handle: async (call) => (await elsewhere(call)) ?? follow(call),
  }),
];

/** Null: this node answers. */
function elsewhere(call: Call<Params>): Promise<Reply | null> {
  const [, rest = ''] = /\/attempts\/[^/]+\/log(.*)$/.exec(call.request.url ?? '') ?? [];
  return attemptElsewhere(call, { ...call.params, rest });
}

interface Lines {
  readonly line?: number;
  readonly lines?: number;
  readonly tail?: number;
}

async function read({ params: { id, attempt }, query, context, request }: Call<Params, Lines>): Promise<Reply> {
  const found = await nodeOf(context).attempts.log(id, attempt);
  if (!found.ok) return refusedReply(found.refusal);
  const { log } = found;
  if (query.tail !== undefined) return json(await log.tail(query.tail));
  if (query.line !== undefined || query.lines !== undefined)
    return json(await log.lines({ from: query.line ?? 1, count: query.lines ?? LINES }));
  return sendLog(log, request);
}

interface Search {
  readonly q?: string;
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
  readonly limit?: number;
  readonly after?: { readonly line: number; readonly offset: number; readonly generation: number };
}

async function search({ params: { id, attempt }, query, context }: Call<Params, Search>): Promise<Reply> {
  const { q, regex = false, ignoreCase = false, limit = MATCHES, after } = query;
  if (q === undefined)
    throw refuseRequest('bad-input', 'q is missing', { problems: [{ path: 'q', message: 'is missing' }] });
  const found = await nodeOf(context).attempts.log(id, attempt);
  if (!found.ok) return refusedReply(found.refusal);
  const { generation } = await found.log.shape();
  if (after !== undefined && after.generation !== generation)
    throw refuseRequest('moved-on', 'the log was cut since the page before; search from its beginning');
  const words = regex ? { expression: q } : { text: q };
  const { next, ...page } = await found.log.search({ ...words, ignoreCase, limit, ...(after && { from: after }) });
  if (page.stopped === 'expression')
    throw refuseRequest('bad-input', page.message ?? 'the expression is malformed', {
      problems: [{ path: 'q', message: page.message ?? 'is no extended regular expression' }],
    });
  return json({ ...page, next: next === null ? null : `${next.line}-${next.offset}-${generation}` });
}

async function follow(call: Call<Params, { from?: LogPlace }>): Promise<Reply> {
  const {
    params: { id, attempt },
    query,
    context,
    request,
  } = call;
  const { attempts } = nodeOf(context);
  const last = request.headers['last-event-id'];
  const from = (typeof last === 'string' ? parseLogPlace(last) : null) ?? query.from ?? null;
  // A job that has not begun is waited for within the stream; one that does not exist is refused before it.
  const now = await attempts.log(id, attempt);
  const [job] = now.ok ? [null] : await context.store.jobs.find([id]);
  if (!now.ok && (job === null || job === undefined || attempt !== 'latest')) return refusedReply(now.refusal);
  return events(async (stream) => {
    const found = now.ok ? now : await attempts.logWhenBegun(id, attempt, stream.signal);
    // It began elsewhere: whoever reads comes back, and is passed on.
    if (!now.ok && found.ok && context.store.isShared && !attempts.isHere(id, found.log.attempt)) return;
    await tellLog(stream, found, from);
  });
}
