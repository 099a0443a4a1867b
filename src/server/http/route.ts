/**
 * A route: one operation of the API, as data. Role, limits, checks and description stand in the table, so that the
 * guard, the OpenAPI document and the tests of every route are made from it.
 *
 * How to add one: write it in `routes/<resource>.ts` as an entry of that file's exported array,
 *
 *     export const jobRoutes: readonly Route[] = [
 *       route({
 *         name: 'jobs.cancel', method: 'POST', path: '/api/jobs/{id}/cancel', role: 'operate',
 *         about: 'Ends a job for good; a running one is asked to stop.',
 *         params: { id: jobId }, body: targetBody, answer: cancelAnswer,
 *         handle: async ({ params, body, context }) => json(…),
 *       }),
 *     ];
 *
 * and name the array in route-table.ts. Name the checks of body and query as consts above (TypeScript infers nothing from
 * calls that are written in place). `params` and `query` are checks by name (a query value arrives as text; see
 * query-checks.ts), `body` is one check for the whole JSON body, 'bytes' for a stream (`call.bytes()`), or 'any' for a
 * stream whose type the route looks at itself. All
 * problems of a request are told at once, before `handle` runs. `handle` answers a Reply (reply.ts), returns
 * `refusedReply(refusal)` for a no of the store, and throws `refuseRequest(code, words)` for a no of its own.
 * Streams: answer `events(run)` (event-stream.ts). Never write to the response by hand.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Check, Checked, CheckedWith, Shape } from '../../core/input/check.ts';
import type { Role } from '../../wire/role.ts';
import type { ServerContext } from '../views/context.ts';
import type { Reply } from './reply.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** Who asks: as the guard found out. */
export interface Who {
  /** For the audit: `socket`, `loopback`, `login-link`, or `token:` and the name of a token. */
  readonly actor: string;
  readonly role: Role;
  /** The address it came from. */
  readonly from: string;
  /** The id of the token, where there is one. */
  readonly token: string | null;
  /** The id of the node that asks for its own caller. What it asks for is answered from here alone, and never passed on. */
  readonly node?: string;
}

export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly who: Who;
  readonly context: ServerContext;
  readonly request: IncomingMessage;
  /** Aborted when the caller has gone or the server stops. */
  readonly signal: AbortSignal;
  /** Whether who asks may also do what needs this role. */
  may(role: Role): boolean;
  /** The body as a stream, for routes with body 'bytes'; held to the route's limit and to a least pace. */
  bytes(): Readable;
}

export interface Limits {
  readonly bodyBytes: number;
}

interface Description {
  /** The operation's id, such as `jobs.cancel`. */
  readonly name: string;
  readonly method: Method;
  /** With `{name}` for a part that varies. */
  readonly path: string;
  /** One sentence for people. */
  readonly about: string;
  readonly role: Role | 'open';
  /** What a good answer is made of. */
  readonly answer: Check<unknown> | 'bytes' | 'events' | 'text' | 'none';
  /** Status of a good answer. */
  readonly status: number;
  readonly limits: Limits;
  /** Whether a call leaves a row in the audit. */
  readonly audit: boolean;
  /** Whether relays may call it too: to make a draft, send its files and commit it, and for nothing else. */
  readonly relay: boolean;
  /** Whether other nodes of the store may call it: for files that this one holds, and for nothing else. */
  readonly nodes: boolean;
}

export interface Route extends Description {
  readonly params: Shape;
  readonly query: Shape;
  readonly body: Check<unknown> | 'bytes' | 'any' | null;
  /** Meant only when the query has this word: two operations may share an address by it. */
  readonly onlyWith: string | null;
  handle(call: Call): Promise<Reply>;
}

/** Whether the route reads its body itself, as it comes. */
export function isStream(body: Route['body']): body is 'bytes' | 'any' {
  return body === 'bytes' || body === 'any';
}

type Optional<Names extends keyof Description> = Omit<Description, Names> & Partial<Pick<Description, Names>>;

interface RouteInput<Params extends Shape, Query extends Shape, Body>
  extends Optional<'status' | 'limits' | 'audit' | 'relay' | 'nodes'> {
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Check<Body> | 'bytes' | 'any';
  readonly onlyWith?: string;
  handle(call: Call<CheckedWith<Params, Record<never, never>>, Checked<Query>, Body>): Promise<Reply> | Reply;
}

/** JSON bodies are at most 1 MiB unless a route says otherwise. */
export const JSON_LIMIT = 1024 * 1024;
const AUDITED: ReadonlySet<Role | 'open'> = new Set(['operate', 'admin']);

/** Fills in what is usual, and lets `handle` know the types of what it is given. */
export function route<
  Params extends Shape = Record<never, never>,
  Query extends Shape = Record<never, never>,
  Body = unknown,
>(input: RouteInput<Params, Query, Body>): Route {
  const { params = {}, query = {}, body = null, handle, method, role, ...rest } = input;
  return {
    status: 200,
    onlyWith: null,
    limits: { bodyBytes: body === null ? 0 : JSON_LIMIT },
    relay: false,
    nodes: false,
    audit: method !== 'GET' && method !== 'HEAD' && AUDITED.has(role),
    ...rest,
    method,
    role,
    params,
    query,
    body,
    // The dispatcher has run these very checks over the call.
    handle: async (call) => handle(call as never),
  };
}
