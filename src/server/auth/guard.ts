/**
 * Authentication and authorization. `screen` checks the headers of every request; `admit` authenticates the caller and
 * checks the role of the route. Both throw a refusal.
 *
 *     Bearer token ──▶ the token's role       cookie ──▶ the role of the session, only from the web UI's own origin
 *     Node proof ──▶ another node of the store: only the routes for nodes
 *     neither ──▶ socket: admin · loopback: operate, unless a token is required · other addresses: refused
 *
 * Invariant: an invalid credential is refused even where none is required.
 */
import type { IncomingMessage } from 'node:http';
import type { NodeCaller } from '../../node/cluster/node-credential.ts';
import { NODE_SCHEME, PROOF_HEADER } from '../../node/cluster/node-credential.ts';
import { allows } from '../../wire/role.ts';
import type { Overload, ReserveBytes } from '../http/overload.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Principal, Route } from '../http/route.ts';
import { isStream } from '../http/route.ts';
import type { OpenStreams } from '../streams/open-streams.ts';
import type { Caller, Callers } from './callers.ts';
import { cookieOf } from './cookie.ts';
import { checkHostForm, checkHostName, checkNoSecret, checkOrigin, checkSite, isLocal } from './request-origin.ts';
import type { WrongTokens } from './wrong-tokens.ts';

/** The kind of listener that accepted a request. */
export type ListenerKind = 'socket' | 'tcp';

export interface Entry {
  readonly route: Route;
  readonly listener: ListenerKind;
  /** Aborted when the answer was sent or the caller disconnected. */
  readonly gone: AbortSignal;
}

export interface Admission {
  readonly principal: Principal;
  /** Aborted when a stream must end because its credential is no longer valid. */
  readonly revoked: AbortSignal | null;
  /** Reserves memory for the body. */
  readonly reserve: ReserveBytes;
  /** Headers for the answer, whatever its status. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Guard {
  screen(request: IncomingMessage, listener: ListenerKind): void;
  admit(request: IncomingMessage, entry: Entry): Promise<Admission>;
}

export interface GuardParts {
  /** Host names that this server serves in addition to the loopback names, without a port. */
  readonly hosts: ReadonlySet<string>;
  readonly requireToken: boolean;
  readonly callers: Callers;
  readonly wrong: WrongTokens;
  readonly streams: OpenStreams;
  readonly load: Overload;
  /** Verifies the proof of another node of the store; null if it is invalid. */
  nodeBy(authorization: string, request: IncomingMessage): NodeCaller | null;
  limitRequests(principal: Principal): void;
}

/** The only route that accepts a login code, and consumes it. */
export const LOGIN_ROUTE = 'login';

/** The principal of open routes, which do not authenticate. */
const ANONYMOUS: Principal = { actor: 'anonymous', role: 'read', from: '', token: null };

export function createGuard(parts: GuardParts): Guard {
  return {
    screen(request, listener) {
      checkHostForm(request);
      if (listener === 'tcp') checkHostName(request, parts.hosts);
      checkSite(request);
      checkNoSecret(request);
    },
    async admit(request, entry) {
      const { route, gone } = entry;
      if (route.role === 'open') return { principal: ANONYMOUS, revoked: null, reserve: () => undefined };
      if (request.headers.authorization?.startsWith(`${NODE_SCHEME} `)) return admitNode(parts, request, entry);
      const caller = await callerOf(parts, request, route);
      const principal =
        caller === null ? withoutCredential(parts, request, entry.listener) : principalOf(caller, request);
      if (principal === null) throw unauthenticated('a token is required: send Authorization: Bearer <token>');
      const { role, actor } = principal;
      if (!allows(role, route.role) && !(role === 'relay' && route.relay)) {
        throw refuseRequest(
          'forbidden',
          `${route.name} requires the role ${route.role}; ${actor} has the role ${role}`,
        );
      }
      parts.limitRequests(principal);
      const reserve = parts.load.enter(route, gone);
      const revoked = caller !== null && staysOpen(route) ? parts.streams.add(caller, gone) : null;
      return { principal, reserve, revoked };
    },
  };
}

/** Admits another node, which forwards a request of a caller that it has authorized itself. */
function admitNode(parts: GuardParts, request: IncomingMessage, { route, gone }: Entry): Admission {
  const node = parts.nodeBy(request.headers.authorization ?? '', request);
  if (node === null) throw invalidCredential(parts, request);
  if (!route.nodes) throw refuseRequest('forbidden', `${route.name} cannot be called by other nodes`);
  const from = request.socket.remoteAddress ?? 'socket';
  const principal: Principal = { actor: `node:${node.id}`, role: 'read', token: null, from, node: node.id };
  const reserve = parts.load.enter(route, gone);
  return { principal, revoked: null, reserve, headers: { [PROOF_HEADER]: node.answer } };
}

/** Returns null without a credential, or with an expired cookie. */
async function callerOf(parts: GuardParts, request: IncomingMessage, route: Route): Promise<Caller | null> {
  const { authorization } = request.headers;
  if (authorization === undefined) return callerByCookie(parts, request);
  const text = /^Bearer +([^ ]+)$/i.exec(authorization)?.[1];
  const { callers } = parts;
  const caller = text === undefined ? null : ((await callers.find(text)) ?? (await takeCode(route, callers, text)));
  if (caller !== null && caller.kind !== 'session') return caller;
  throw invalidCredential(parts, request);
}

function invalidCredential(parts: GuardParts, request: IncomingMessage): Error {
  if (parts.wrong.isTooMany(request.socket.remoteAddress ?? '')) {
    return refuseRequest(
      'too-many-requests',
      'too many invalid tokens from this address; a valid token is still accepted',
    );
  }
  return unauthenticated('the token is not valid');
}

async function takeCode(route: Route, callers: Callers, text: string): Promise<Caller | null> {
  return route.name === LOGIN_ROUTE ? callers.takeCode(text) : null;
}

async function callerByCookie({ callers }: GuardParts, request: IncomingMessage): Promise<Caller | null> {
  const cookie = cookieOf(request);
  const caller = cookie === null ? null : await callers.find(cookie);
  if (caller?.kind !== 'session') return null;
  checkOrigin(request);
  return caller;
}

function principalOf({ actor, role, token }: Caller, { socket }: IncomingMessage): Principal {
  return { actor, role, token, from: socket.remoteAddress ?? 'socket' };
}

function withoutCredential(
  { requireToken }: GuardParts,
  request: IncomingMessage,
  listener: ListenerKind,
): Principal | null {
  if (listener === 'socket') return { actor: 'socket', role: 'admin', from: 'socket', token: null };
  if (requireToken || !isLocal(request)) return null;
  return { actor: 'loopback', role: 'operate', from: request.socket.remoteAddress ?? '', token: null };
}

function unauthenticated(detail: string): Error {
  return refuseRequest('unauthenticated', detail, { headers: { 'www-authenticate': 'Bearer' } });
}

function staysOpen({ answer, body }: Route): boolean {
  return answer === 'events' || answer === 'bytes' || isStream(body);
}
