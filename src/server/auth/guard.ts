/**
 * Who may come in. `screen` looks at every request before anything is looked up; `admit` says who asks and whether
 * the route is open to them. Both throw what they refuse.
 *
 *     Bearer token ──▶ the token's role       cookie ──▶ the role it was made with, from our own page alone
 *     Node proof ──▶ another node of the store: the routes for nodes, and no others
 *     neither ──▶ socket: admin · loopback: operate, unless a token is required · anybody else: nobody
 *
 * Invariant: a credential that is given and wrong is refused, also where none would have been needed.
 */
import type { IncomingMessage } from 'node:http';
import type { NodeCaller } from '../../node/cluster/node-credential.ts';
import { NODE_SCHEME, PROOF_HEADER } from '../../node/cluster/node-credential.ts';
import { allows } from '../../wire/role.ts';
import type { Hold, Overload } from '../http/overload.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Route, Who } from '../http/route.ts';
import { isStream } from '../http/route.ts';
import type { Stays } from '../streams/open-streams.ts';
import type { Caller, Callers } from './callers.ts';
import { cookieOf } from './cookie.ts';
import { checkHostForm, checkHostName, checkNoSecret, checkOwnPage, checkSite, isFromHere } from './request-origin.ts';
import type { WrongTokens } from './wrong-tokens.ts';

/** Which listener a request came through. */
export type Door = 'socket' | 'tcp';

export interface Entry {
  readonly route: Route;
  readonly door: Door;
  /** Aborted when the answer is out or the caller has gone. */
  readonly gone: AbortSignal;
}

export interface Admission {
  readonly who: Who;
  /** Aborted when a stream must end because its credential holds no more. */
  readonly revoked: AbortSignal | null;
  /** To be told of what is held of the body. */
  readonly hold: Hold;
  /** Headers of the answer, whatever it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Guard {
  screen(request: IncomingMessage, door: Door): void;
  admit(request: IncomingMessage, entry: Entry): Promise<Admission>;
}

export interface GuardParts {
  /** Names this server answers for besides those of the loopback, without a port. */
  readonly hosts: ReadonlySet<string>;
  readonly requireToken: boolean;
  readonly callers: Callers;
  readonly wrong: WrongTokens;
  readonly stays: Stays;
  readonly load: Overload;
  /** Which node of the store proves itself so; null for none. */
  nodeBy(authorization: string, request: IncomingMessage): NodeCaller | null;
  limitRequests(who: Who): void;
}

/** The one route that takes a login code, which is used up by it. */
export const LOGIN_ROUTE = 'login';

/** Whoever is not known sees what is open to all, and is asked for nothing there. */
const NOBODY: Who = { actor: 'nobody', role: 'read', from: '', token: null };

export function createGuard(parts: GuardParts): Guard {
  return {
    screen(request, door) {
      checkHostForm(request);
      if (door === 'tcp') checkHostName(request, parts.hosts);
      checkSite(request);
      checkNoSecret(request);
    },
    async admit(request, entry) {
      const { route, gone } = entry;
      if (route.role === 'open') return { who: NOBODY, revoked: null, hold: () => undefined };
      if (request.headers.authorization?.startsWith(`${NODE_SCHEME} `)) return admitNode(parts, request, entry);
      const caller = await callerOf(parts, request, route);
      const who = caller === null ? whoWithout(parts, request, entry.door) : whoOf(caller, request);
      if (who === null) throw unknown('give a token: Authorization: Bearer …');
      if (!allows(who.role, route.role) && !(who.role === 'relay' && route.relay)) {
        throw refuseRequest('forbidden', `${route.name} needs the role ${route.role}; ${who.actor} has ${who.role}`);
      }
      parts.limitRequests(who);
      const hold = parts.load.enter(route, gone);
      return { who, hold, revoked: caller !== null && staysOpen(route) ? parts.stays.add(caller, gone) : null };
    },
  };
}

/** A node asks for its own caller, whom it has let in itself; it may see files, whatever else that caller may. */
function admitNode(parts: GuardParts, request: IncomingMessage, { route, gone }: Entry): Admission {
  const node = parts.nodeBy(request.headers.authorization ?? '', request);
  if (node === null) throw wrongCredential(parts, request);
  if (!route.nodes) throw refuseRequest('forbidden', `${route.name} is not for nodes`);
  const from = request.socket.remoteAddress ?? 'socket';
  const who: Who = { actor: `node:${node.id}`, role: 'read', token: null, from, node: node.id };
  return { who, revoked: null, hold: parts.load.enter(route, gone), headers: { [PROOF_HEADER]: node.answer } };
}

/** Null: none was given, or a cookie that says nothing any more. */
async function callerOf(parts: GuardParts, request: IncomingMessage, route: Route): Promise<Caller | null> {
  const { authorization } = request.headers;
  if (authorization === undefined) return callerByCookie(parts, request);
  const text = /^Bearer +([^ ]+)$/i.exec(authorization)?.[1];
  const { callers } = parts;
  const caller = text === undefined ? null : ((await callers.find(text)) ?? (await codeFor(route, callers, text)));
  if (caller !== null && caller.kind !== 'session') return caller;
  throw wrongCredential(parts, request);
}

function wrongCredential(parts: GuardParts, request: IncomingMessage): Error {
  if (parts.wrong.isTooMany(request.socket.remoteAddress ?? '')) {
    return refuseRequest('too-many-requests', 'too many wrong tokens came from there; a right one is let in');
  }
  return unknown('nobody is known by this token');
}

async function codeFor(route: Route, callers: Callers, text: string): Promise<Caller | null> {
  return route.name === LOGIN_ROUTE ? callers.takeCode(text) : null;
}

async function callerByCookie({ callers }: GuardParts, request: IncomingMessage): Promise<Caller | null> {
  const cookie = cookieOf(request);
  const caller = cookie === null ? null : await callers.find(cookie);
  if (caller?.kind !== 'session') return null;
  checkOwnPage(request);
  return caller;
}

function whoOf({ actor, role, token }: Caller, { socket }: IncomingMessage): Who {
  return { actor, role, token, from: socket.remoteAddress ?? 'socket' };
}

function whoWithout({ requireToken }: GuardParts, request: IncomingMessage, door: Door): Who | null {
  if (door === 'socket') return { actor: 'socket', role: 'admin', from: 'socket', token: null };
  if (requireToken || !isFromHere(request)) return null;
  return { actor: 'loopback', role: 'operate', from: request.socket.remoteAddress ?? '', token: null };
}

function unknown(words: string): Error {
  return refuseRequest('unauthenticated', words, { headers: { 'www-authenticate': 'Bearer' } });
}

function staysOpen({ answer, body }: Route): boolean {
  return answer === 'events' || answer === 'bytes' || isStream(body);
}
