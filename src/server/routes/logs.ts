/**
 * The log of an attempt, during the attempt and after it: bytes by range, lines as text, search, and a live stream. Text is
 * lossy if a log is not valid UTF-8; the bytes are always exact.
 */
import { fields, integer, listOf, oneOf, orNull, text } from '../../core/input/check.ts';
import { jobId } from '../../core/job/names.ts';
import type { LogPosition } from '../../node/attempts/log-position.ts';
import { parseLogPosition } from '../../node/attempts/log-position.ts';
import { refusedReply, refuseRequest } from '../http/problem.ts';
import { queryFlag, queryInteger } from '../http/query-checks.ts';
import type { Reply } from '../http/reply.ts';
import { events, json } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { streamLog } from '../streams/log-messages.ts';
import { forwardLog } from '../views/from-other-node.ts';
import { attemptNumber, logPosition, searchCursor } from '../views/log-checks.ts';
import { nodeOf } from '../views/node-of.ts';
import { sendLog } from '../views/send-log.ts';

const PATH = '/api/jobs/{id}/attempts/{attempt}/log';
const MAX_LINES = 10_000;
const LINES = 1_000;
const MAX_MATCHES = 1_000;
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
    about:
      'Returns the log of an attempt: its bytes (supports Range), or its lines as JSON with line and lines, or tail.',
    role: 'read',
    nodes: true,
    params,
    query: {
      line: queryInteger(1, Number.MAX_SAFE_INTEGER),
      lines: queryInteger(1, MAX_LINES),
      tail: queryInteger(1, MAX_LINES),
    },
    answer: 'bytes',
    handle: async (call) => (await forward(call)) ?? read(call),
  }),
  route({
    name: 'logs.search',
    method: 'GET',
    path: `${PATH}/search`,
    about: 'Searches a log for lines that contain a text or match an extended regular expression.',
    role: 'read',
    nodes: true,
    params,
    query: {
      q: text({ max: 1_000, pattern: /^[^\n\0]+$/, must: 'must be 1 to 1000 characters of one line' }),
      regex: queryFlag,
      ignoreCase: queryFlag,
      limit: queryInteger(1, MAX_MATCHES),
      after: searchCursor,
    },
    answer: fields({
      matches: listOf(fields({ line: whole, offset: whole, text: anyText, at: orNull(whole) }), MAX_MATCHES),
      stopped: orNull(oneOf('limit', 'time', 'expression')),
      message: orNull(anyText),
      next: orNull(anyText),
    }),
    handle: async (call) => (await forward(call)) ?? search(call),
  }),
  route({
    name: 'logs.follow',
    method: 'GET',
    path: `${PATH}/events`,
    about: 'Streams a log until its attempt ends. Resumes at Last-Event-ID, or at `from`.',
    role: 'read',
    nodes: true,
    params,
    query: { from: logPosition },
    answer: 'events',
    handle: async (call) => (await forward(call)) ?? follow(call),
  }),
];

/** Returns null if this node answers. */
function forward(call: Call<Params>): Promise<Reply | null> {
  const [, rest = ''] = /\/attempts\/[^/]+\/log(.*)$/.exec(call.request.url ?? '') ?? [];
  return forwardLog(call, { ...call.params, rest });
}

interface LineQuery {
  readonly line?: number;
  readonly lines?: number;
  readonly tail?: number;
}

async function read({ params: { id, attempt }, query, context, request }: Call<Params, LineQuery>): Promise<Reply> {
  const found = await nodeOf(context).attempts.log(id, attempt);
  if (!found.ok) return refusedReply(found.refusal);
  const { log } = found;
  if (query.tail !== undefined) return json(await log.tail(query.tail));
  if (query.line !== undefined || query.lines !== undefined)
    return json(await log.lines({ from: query.line ?? 1, count: query.lines ?? LINES }));
  return sendLog(log, request);
}

interface SearchQuery {
  readonly q?: string;
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
  readonly limit?: number;
  readonly after?: { readonly line: number; readonly offset: number; readonly generation: number };
}

async function search({ params: { id, attempt }, query, context }: Call<Params, SearchQuery>): Promise<Reply> {
  const { q, regex = false, ignoreCase = false, limit = MATCHES, after } = query;
  if (q === undefined)
    throw refuseRequest('bad-input', 'q is missing', { problems: [{ path: 'q', message: 'is missing' }] });
  const found = await nodeOf(context).attempts.log(id, attempt);
  if (!found.ok) return refusedReply(found.refusal);
  const { generation } = await found.log.shape();
  if (after !== undefined && after.generation !== generation)
    throw refuseRequest('moved-on', 'the log was truncated since the previous page; start the search again');
  const pattern = regex ? { expression: q } : { text: q };
  const { next, ...page } = await found.log.search({ ...pattern, ignoreCase, limit, ...(after && { from: after }) });
  if (page.stopped === 'expression')
    throw refuseRequest('bad-input', page.message ?? 'the expression is malformed', {
      problems: [{ path: 'q', message: page.message ?? 'is not an extended regular expression' }],
    });
  return json({ ...page, next: next === null ? null : `${next.line}-${next.offset}-${generation}` });
}

async function follow(call: Call<Params, { from?: LogPosition }>): Promise<Reply> {
  const {
    params: { id, attempt },
    query,
    context,
    request,
  } = call;
  const { attempts } = nodeOf(context);
  const last = request.headers['last-event-id'];
  const from = (typeof last === 'string' ? parseLogPosition(last) : null) ?? query.from ?? null;
  // The stream waits for a job that has not started; a job that does not exist is refused before the stream opens.
  const now = await attempts.log(id, attempt);
  const [job] = now.ok ? [null] : await context.store.jobs.find([id]);
  if (!now.ok && (job === null || job === undefined || attempt !== 'latest')) return refusedReply(now.refusal);
  return events(async (stream) => {
    const found = now.ok ? now : await attempts.logWhenStarted(id, attempt, stream.signal);
    // The attempt started on another node: the reader reconnects and is forwarded.
    if (!now.ok && found.ok && context.store.isShared && !attempts.isHere(id, found.log.attempt)) return;
    await streamLog(stream, found, from);
  });
}
