/**
 * Handles one request, from its head to its answer:
 *
 *     screen ──▶ match ──▶ admit ──▶ read and check ──▶ handle ──▶ write
 *
 * No code of a route runs before the guard has admitted the request and every check has passed.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { allows } from '../../wire/role.ts';
import type { AuditState } from '../auth/audit-subject.ts';
import { auditState } from '../auth/audit-subject.ts';
import type { Guard, ListenerKind } from '../auth/guard.ts';
import { notFoundPage } from '../routes/web-ui.ts';
import type { StreamBuffers } from '../streams/stream-buffers.ts';
import type { ServerContext } from '../views/context.ts';
import { problemReply, refuseRequest, replyOfError } from './problem.ts';
import type { Exchange } from './read-body.ts';
import { openBytes } from './read-body.ts';
import { readParts, targetOf } from './read-request.ts';
import type { Reply } from './reply.ts';
import type { Call, Principal, Route } from './route.ts';
import type { Match, RouteTable } from './route-table.ts';
import { writeReply } from './write-reply.ts';

/** An answered request, for the log and the audit. `route` and `principal` are null if it failed before that step. */
export interface Answered {
  readonly request: IncomingMessage;
  readonly route: Route | null;
  readonly principal: Principal | null;
  readonly call: Call | null;
  /** What an audited call acts on, as it was before the call. */
  readonly before: AuditState | null;
  readonly reply: Reply;
}

export interface DispatchOptions {
  readonly context: ServerContext;
  readonly table: RouteTable;
  readonly guard: Guard;
  /** Bounds the unread bytes of all event streams. */
  readonly buffers: StreamBuffers;
  /** Called and awaited before the answer is sent: an operation must be in the audit log before its caller knows of it. */
  onAnswer?(answered: Answered): void | Promise<void>;
  /** Logs an unexpected error. The caller gets only its id. */
  onTrouble(what: string, error: unknown): void;
}

export type Dispatch = (exchange: Exchange, listener: ListenerKind, stopping: AbortSignal) => Promise<void>;

/** The steps that a request has passed. */
interface Progress {
  route: Route | null;
  principal: Principal | null;
  call: Call | null;
  before: AuditState | null;
}

export function createDispatch(options: DispatchOptions): Dispatch {
  return async (exchange, listener, stopping) => {
    const { request, response } = exchange;
    const signal = goneSignal(response, stopping);
    const progress: Progress = { route: null, principal: null, call: null, before: null };
    const reply = await answer(options, { ...exchange, listener, signal, progress }).catch((error: unknown) =>
      replyTo(options, error, { request, stopping }),
    );
    try {
      await options.onAnswer?.({ request, ...progress, reply });
      // A refused client that is still sending could go on forever.
      if (!request.complete && reply.status >= 400) response.setHeader('connection', 'close');
      await writeReply(response, reply, { isHead: request.method === 'HEAD', signal, buffers: options.buffers });
    } catch (error) {
      if (!signal.aborted) options.onTrouble('cannot write an answer', error);
      response.destroy();
    }
  };
}

interface Incoming extends Exchange {
  readonly listener: ListenerKind;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

async function answer({ context, table, guard }: DispatchOptions, incoming: Incoming): Promise<Reply> {
  const { request, response, listener, signal, progress } = incoming;
  guard.screen(request, listener);
  const { path, query } = targetOf(request.url ?? '');
  const match = table.match(request.method ?? '', path, query);
  const { route, params } = match.kind === 'not-found' && isPageOf(context, request, path) ? NO_PAGE : found(match);
  progress.route = route;
  const { principal, revoked, reserve, headers = {} } = await guard.admit(request, { route, listener, gone: signal });
  progress.principal = principal;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  revoked?.addEventListener('abort', () => response.destroy(), { once: true });
  const exchange = { request, response, reserve };
  const parts = await readParts(exchange, route, { params, query: route === NO_PAGE.route ? '' : query });
  const call: Call = {
    ...parts,
    principal,
    context,
    request,
    signal,
    may: (role) => allows(principal.role, role),
    bytes: () => openBytes(exchange, route.limits.bodyBytes),
  };
  progress.call = call;
  progress.before = await auditState(route, call);
  return route.handle(call);
}

/** The page for an unknown path, which a browser gets in place of a problem in JSON. */
const NO_PAGE = { route: notFoundPage, params: {} };

function isPageOf({ page }: ServerContext, { method, headers }: IncomingMessage, path: string): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && page !== null && !/^\/api(?:\/|$)/.test(path) && /\btext\/html\b/.test(headers.accept ?? '');
}

function found(match: Match): Match & { kind: 'route' } {
  switch (match.kind) {
    case 'route':
      return match;
    case 'not-found':
      throw refuseRequest('no-such-address', 'no route has this path; GET /api lists all routes');
    case 'wrong-method': {
      const allow = match.allowed.join(', ');
      throw refuseRequest('method-not-allowed', `this path supports ${allow}`, { headers: { allow } });
    }
  }
}

interface Interrupted {
  readonly request: IncomingMessage;
  readonly stopping: AbortSignal;
}

function replyTo(options: DispatchOptions, error: unknown, { request, stopping }: Interrupted): Reply {
  const { complete, destroyed } = request;
  const reply = replyOfError(error);
  if (reply !== null) return reply;
  if (stopping.aborted && isAbort(error)) return problemReply('overloaded', 'the node is stopping');
  // A client that disconnects while it sends is not an error of this server and must not fill the log.
  if (!complete && destroyed) return problemReply('bad-request', 'the request ended early');
  return internalError(options, error);
}

/** Logs an unexpected error under an id. The answer has only the id: the error may contain paths or secrets. */
function internalError({ onTrouble }: DispatchOptions, error: unknown): Reply {
  const id = randomBytes(ERROR_ID_BYTES).toString('hex');
  onTrouble(`internal error (id ${id})`, error);
  return problemReply('internal', `internal error (id ${id}): see the node's log`);
}

const ERROR_ID_BYTES = 4;

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/**
 * Returns a signal that aborts when the connection closes or the server stops. It does not use AbortSignal.any, which
 * would retain some kilobytes per request as long as `stopping` lives.
 */
function goneSignal(response: ServerResponse, stopping: AbortSignal): AbortSignal {
  const gone = new AbortController();
  const end = (): void => gone.abort();
  stopping.addEventListener('abort', end);
  response.once('close', () => {
    stopping.removeEventListener('abort', end);
    end();
  });
  if (stopping.aborted) end();
  return gone.signal;
}
