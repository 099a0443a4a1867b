/**
 * A route: one operation of the API, as data. The guard, the OpenAPI document and the tests of every route are derived
 * from its role, limits, checks and description.
 *
 * To add one, write an entry of the exported array in `routes/<resource>.ts`,
 *
 *     export const jobRoutes: readonly Route[] = [
 *       route({
 *         name: 'jobs.cancel', method: 'POST', path: '/api/jobs/{id}/cancel', role: 'operate',
 *         about: 'Cancels a job; a running job is asked to stop.',
 *         params: { id: jobId }, body: targetBody, answer: cancelAnswer,
 *         handle: async ({ params, body, context }) => json(…),
 *       }),
 *     ];
 *
 * and list the array in route-table.ts. Declare the checks of body and query as constants (TypeScript does not infer types
 * from inline calls). `params` and `query` are checks by name; query values are text (see query-checks.ts). `body` is one
 * check for the JSON body, 'bytes' for a stream (`call.bytes()`), or 'any' for a stream whose type the route checks itself.
 * All problems of a request are reported together, before `handle` runs.
 *
 * `handle` returns a Reply (reply.ts), `refusedReply(refusal)` for a refusal of the store, or `events(run)` for a stream
 * (event-stream.ts). It throws `refuseRequest(code, detail)` for a refusal of its own. It never writes to the response.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Check, Checked, CheckedWith, Shape } from '../../core/input/check.ts';
import type { Role } from '../../wire/role.ts';
import type { ServerContext } from '../views/context.ts';
import type { Reply } from './reply.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export type Method = (typeof METHODS)[number];

/** The authenticated caller of a request. */
export interface Principal {
  /** The name for the audit: `socket`, `loopback`, `login-link`, or `token:` and the name of a token. */
  readonly actor: string;
  readonly role: Role;
  /** The remote address. */
  readonly from: string;
  /** The id of the token, if there is one. */
  readonly token: string | null;
  /** The id of the node that forwards a request. Such a request is answered locally and never forwarded again. */
  readonly node?: string;
}

export interface Call<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
  readonly context: ServerContext;
  readonly request: IncomingMessage;
  /** Aborted when the caller disconnects or the server stops. */
  readonly signal: AbortSignal;
  /** Returns whether the caller's role includes this one. */
  may(role: Role): boolean;
  /** Returns the body as a stream, for routes with body 'bytes'; size and minimum rate are enforced. */
  bytes(): Readable;
}

export interface Limits {
  readonly bodyBytes: number;
}

interface Description {
  /** The operation's id, such as `jobs.cancel`. */
  readonly name: string;
  readonly method: Method;
  /** With `{name}` for parameters. */
  readonly path: string;
  /** The summary in the API documentation, in the third person: "Lists jobs." */
  readonly about: string;
  readonly role: Role | 'open';
  /** The content of a successful answer. */
  readonly answer: Check<unknown> | 'bytes' | 'events' | 'text' | 'none';
  /** The status of a successful answer. */
  readonly status: number;
  readonly limits: Limits;
  /** Whether calls are written to the audit log. */
  readonly audit: boolean;
  /** Whether the role relay may call it: only to add a draft, send its files and commit it. */
  readonly relay: boolean;
  /** Whether other nodes of the store may call it: only for files that this node holds. */
  readonly nodes: boolean;
}

export interface Route extends Description {
  readonly params: Shape;
  readonly query: Shape;
  readonly body: Check<unknown> | 'bytes' | 'any' | null;
  /** Matches only if the query has this parameter, so that two operations can share a path. */
  readonly onlyWith: string | null;
  /** Accepts query parameters `name[any key]`: the name. */
  readonly keyedQuery: string | null;
  handle(call: Call): Promise<Reply>;
}

/** Returns whether the route reads its body as a stream. */
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
  readonly keyedQuery?: string;
  handle(call: Call<CheckedWith<Params, Record<never, never>>, Checked<Query>, Body>): Promise<Reply> | Reply;
}

/** The default limit of JSON bodies. */
export const JSON_LIMIT = 1024 * 1024;
const AUDITED: ReadonlySet<Role | 'open'> = new Set(['operate', 'admin']);

/** Defines a route: fills in defaults, and gives `handle` the types of its parameters. */
export function route<
  Params extends Shape = Record<never, never>,
  Query extends Shape = Record<never, never>,
  Body = unknown,
>(input: RouteInput<Params, Query, Body>): Route {
  const { params = {}, query = {}, body = null, handle, method, role, ...rest } = input;
  return {
    status: 200,
    onlyWith: null,
    keyedQuery: null,
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
    // The dispatcher has applied these checks to the call.
    handle: async (call) => handle(call as never),
  };
}
