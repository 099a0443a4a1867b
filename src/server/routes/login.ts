/**
 * Browser login: exchanges a token, or the code of a one-time link, for a cookie. Both are sent as `Authorization: Bearer`,
 * so that the guard counts invalid ones as on every route.
 *
 * The code is in the fragment of the link, which browsers do not send: the page reads it and removes it from the URL.
 */
import { fields, integer, oneOf, text } from '../../core/input/check.ts';
import { ROLES } from '../../wire/role.ts';
import { clearCookie, cookieOf, setCookie } from '../auth/cookie.ts';
import { readCredential } from '../auth/credential.ts';
import { LOGIN_ROUTE } from '../auth/guard.ts';
import { LOGIN_PAGE, LOGIN_SCRIPT } from '../auth/login-page.ts';
import { makeLoginCode, makeSession, SESSION_RECORD } from '../auth/sessions.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { json, text as textReply } from '../http/reply.ts';
import type { Call } from '../http/route.ts';
import { type Route, route } from '../http/route.ts';

const secret = text({ max: 100 });

export const loginRoutes: readonly Route[] = [
  route({
    name: LOGIN_ROUTE,
    method: 'POST',
    path: '/api/login',
    about: 'Creates a session and sets its cookie, for a token or a one-time code sent as Authorization: Bearer.',
    role: 'read',
    answer: fields({ actor: text({ max: 512 }), role: oneOf(...ROLES), version: text({ max: 64 }) }),
    audit: true,
    handle: (call) => logIn(call),
  }),
  route({
    name: 'logout',
    method: 'POST',
    path: '/api/logout',
    about: 'Ends the session of the cookie.',
    role: 'read',
    answer: 'none',
    status: 204,
    handle: (call) => logOut(call),
  }),
  route({
    name: 'login.link',
    method: 'POST',
    path: '/api/login/link',
    about: 'Creates a code for /login#code, valid for one admin login within an hour.',
    role: 'admin',
    answer: fields({ code: secret, path: secret, madeAt: integer(0, Number.MAX_SAFE_INTEGER) }),
    status: 201,
    handle: async ({ context }) => {
      const madeAt = context.now();
      const code = await makeLoginCode(context.store.records, madeAt);
      return json({ code, path: `/login#${code}`, madeAt }, 201);
    },
  }),
  route({
    name: 'login.page',
    method: 'GET',
    path: '/login',
    about: 'Returns the login page.',
    role: 'open',
    answer: 'text',
    handle: () => textReply(LOGIN_PAGE, 'text/html; charset=utf-8'),
  }),
  route({
    name: 'login.script',
    method: 'GET',
    path: '/login.js',
    about: 'Returns the script of the login page.',
    role: 'open',
    answer: 'text',
    handle: () => textReply(LOGIN_SCRIPT, 'text/javascript; charset=utf-8'),
  }),
];

async function logIn({ principal, context, request }: Pick<Call, 'principal' | 'context' | 'request'>): Promise<Reply> {
  if (request.headers.authorization === undefined) {
    throw refuseRequest('bad-request', 'a login requires a token or a code: send Authorization: Bearer <token>');
  }
  const { actor, role, token } = principal;
  const session = await makeSession(context.store.records, { actor, role, token }, context.now());
  const answer = json({ actor, role, version: context.version });
  return { ...answer, headers: { 'set-cookie': setCookie(request, session) } };
}

/** Deletes the session of the cookie, if there is one, and clears the cookie. */
async function logOut({ context, request }: Pick<Call, 'context' | 'request'>): Promise<Reply> {
  const session = readCredential(cookieOf(request) ?? '');
  if (session?.kind === 'session') await context.store.records.delete(SESSION_RECORD, session.id);
  return { status: 204, headers: { 'set-cookie': clearCookie(request) }, body: { kind: 'none' } };
}
