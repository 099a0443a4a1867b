/**
 * One request, from its head to its answer:
 *
 *     screen ──▶ match ──▶ admit ──▶ read and check ──▶ handle ──▶ write
 *
 * Nothing of a route runs before the guard has let the request in and every check has passed.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { allows } from '../../wire/role.ts';
import type { Door, Guard } from '../auth/guard.ts';
import type { StreamBuffers } from '../streams/stream-buffers.ts';
import type { ServerContext } from '../views/context.ts';
import { problemReply, refuseRequest, replyOfError } from './problem.ts';
import type { Exchange } from './read-body.ts';
import { openBytes } from './read-body.ts';
import { readParts, targetOf } from './read-request.ts';
import type { Reply } from './reply.ts';
import type { Call, Route, Who } from './route.ts';
import type { Match, RouteTable } from './route-table.ts';
import { writeReply } from './write-reply.ts';

/** A request that has been answered, for the log and the audit. `route` and `who` are null where it never got so far. */
export interface Answered {
  readonly request: IncomingMessage;
  readonly route: Route | null;
  readonly who: Who | null;
  readonly call: Call | null;
  readonly reply: Reply;
}

export interface DispatchOptions {
  readonly context: ServerContext;
  readonly table: RouteTable;
  readonly guard: Guard;
  /** Counts what the readers of event streams leave unread. */
  readonly buffers: StreamBuffers;
  /** Before the answer goes out, and awaited: what is done must be in the audit before it is told. */
  onAnswer?(answered: Answered): void | Promise<void>;
  /** What nobody foresaw. The caller is told only that it happened. */
  onTrouble(what: string, error: unknown): void;
}

export type Dispatch = (exchange: Exchange, door: Door, stopping: AbortSignal) => Promise<void>;

/** How far a request has come. */
interface Progress {
  route: Route | null;
  who: Who | null;
  call: Call | null;
}

export function createDispatch(options: DispatchOptions): Dispatch {
  return async (exchange, door, stopping) => {
    const { request, response } = exchange;
    const signal = goneSignal(response, stopping);
    const progress: Progress = { route: null, who: null, call: null };
    const reply = await answer(options, { ...exchange, door, signal, progress }).catch((error: unknown) =>
      replyTo(options, error, { request, stopping }),
    );
    try {
      await options.onAnswer?.({ request, ...progress, reply });
      // Whoever is refused while still sending could go on for ever.
      if (!request.complete && reply.status >= 400) response.setHeader('connection', 'close');
      await writeReply(response, reply, { isHead: request.method === 'HEAD', signal, buffers: options.buffers });
    } catch (error) {
      if (!signal.aborted) options.onTrouble('an answer could not be written', error);
      response.destroy();
    }
  };
}

interface Asked extends Exchange {
  readonly door: Door;
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

async function answer({ context, table, guard }: DispatchOptions, asked: Asked): Promise<Reply> {
  const { request, response, door, signal, progress } = asked;
  guard.screen(request, door);
  const { path, query } = targetOf(request.url ?? '');
  const { route, params } = found(table.match(request.method ?? '', path, query));
  progress.route = route;
  const { who, revoked, hold, headers = {} } = await guard.admit(request, { route, door, gone: signal });
  progress.who = who;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  revoked?.addEventListener('abort', () => response.destroy(), { once: true });
  const exchange = { request, response, hold };
  const parts = await readParts(exchange, route, { params, query });
  const call: Call = {
    ...parts,
    who,
    context,
    request,
    signal,
    may: (role) => allows(who.role, role),
    bytes: () => openBytes(exchange, route.limits.bodyBytes),
  };
  progress.call = call;
  return route.handle(call);
}

function found(match: Match): Match & { kind: 'route' } {
  switch (match.kind) {
    case 'route':
      return match;
    case 'nothing':
      throw refuseRequest('no-such-address', 'there is nothing at this address; /api lists what there is');
    case 'wrong-method': {
      const allow = match.allowed.join(', ');
      throw refuseRequest('method-not-allowed', `this address takes ${allow}`, { headers: { allow } });
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
  // Whoever hangs up while still sending is no trouble of ours, and must not fill the log.
  if (!complete && destroyed) return problemReply('bad-request', 'the request broke off');
  options.onTrouble('a request could not be answered', error);
  return problemReply('internal', 'this was not foreseen; the log of the server has it');
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/**
 * Aborted when the connection closes, whether or not the answer was whole, or when the server stops. Tied by hand: what
 * AbortSignal.any makes of a signal that lives as long as the server is kept as long, some kilobytes a request.
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
