/**
 * Every route of the table against callers that must be refused. No test knows a route by name, so a
 * new one cannot be forgotten.
 */
import { describe, expect, it } from 'vitest';
import { verbOf } from '../../src/server/auth/audit-verbs.ts';
import { makeToken } from '../../src/server/auth/tokens.ts';
import type { Route } from '../../src/server/http/route.ts';
import { ROUTES } from '../../src/server/http/route-table.ts';
import type { Role } from '../../src/wire/role.ts';
import { allows, ROLES } from '../../src/wire/role.ts';
import type { TrialServer } from '../server/trial-server.ts';
import { startTrial } from '../server/trial-server.ts';
import { sayRaw } from './raw-client.ts';
import type { Told } from './route-requests.ts';
import { pathOf, send, typeOf } from './route-requests.ts';

const names = ROUTES.map(({ method, path }) => `${method} ${path}`);
const closed = ROUTES.filter(({ role }) => role !== 'open');
const writing = ROUTES.filter(({ method }) => method !== 'GET' && method !== 'HEAD');
const isOut = ({ status }: Told): boolean => status === 401 || status === 403;
const lines = (routes: readonly (readonly [Route, Told])[]): string[] =>
  routes.map(([{ method, path }, { status, code }]) => `${method} ${path}: ${status} ${code ?? ''}`);

/** Collects the routes with an unexpected answer. */
async function wrongOnes(
  routes: readonly Route[],
  ask: (route: Route) => Promise<Told>,
  isRight: (told: Told, route: Route) => boolean,
): Promise<string[]> {
  const wrong: (readonly [Route, Told])[] = [];
  for (const route of routes) {
    const told = await ask(route);
    if (!isRight(told, route)) wrong.push([route, told]);
  }
  return lines(wrong);
}

async function tokensOf({ store }: TrialServer): Promise<Record<Role, string>> {
  const made = ROLES.map(async (role) => {
    const { text } = await makeToken(store.records, { name: role, role, expiresAt: null }, Date.now());
    return [role, text] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Record<Role, string>;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const mayEnter = (role: Role, route: Route): boolean => allows(role, route.role) || (role === 'relay' && route.relay);

describe('the table', () => {
  it('has no operation twice, and requires authentication except for health, login and web UI files', () => {
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(ROUTES.map(({ name }) => name)).size).toBe(ROUTES.length);
    const open = ROUTES.filter(({ role }) => role === 'open').map(({ path }) => path);
    expect(open.filter((path) => !OPEN.has(path) && path.startsWith('/api/'))).toEqual([]);
  });

  it('audits every operation of operators and admins except routine calls of workers', () => {
    const unaudited = writing.filter(({ role, audit }) => (role === 'operate' || role === 'admin') && !audit);
    expect(
      unaudited.filter(
        ({ name }) => !/\.?(claim|heartbeat|settle|keepSteps|keepWorker|maintain|logs\.append)$/.test(name),
      ),
    ).toEqual([]);
  });

  it('has a verb for the audit log if it is audited', () => {
    expect(writing.filter(({ audit, name }) => audit && verbOf(name) === name)).toEqual([]);
  });
});

const OPEN: ReadonlySet<string> = new Set(['/healthz', '/login', '/login.js', '/api/style.css']);

describe('S3 every route', () => {
  it('admits the loopback as operator without a token', async () => {
    const { port } = await startTrial();
    const right = (told: Told, route: Route) => isOut(told) === !allows('operate', route.role);
    expect(await wrongOnes(ROUTES, (route) => send(route, { port }), right)).toEqual([]);
  });

  it('admits every caller over the socket', async () => {
    const { socket: socketPath } = await startTrial();
    expect(
      await wrongOnes(
        ROUTES,
        (route) => send(route, { socketPath }),
        (told) => !isOut(told),
      ),
    ).toEqual([]);
  });

  it('refuses callers without a token where one is required', async () => {
    const { port } = await startTrial({ requireToken: true });
    const right = ({ status, headers }: Told) => status === 401 && headers['www-authenticate'] === 'Bearer';
    expect(await wrongOnes(closed, (route) => send(route, { port }), right)).toEqual([]);
  });

  it('refuses an invalid token, even on the loopback and over the socket', async () => {
    let now = Date.now();
    const { port, socket: socketPath } = await startTrial({ access: { now: () => (now += 10_000) } });
    const headers = bearer(`lh_${'0'.repeat(16)}_${'A'.repeat(43)}`);
    const right = ({ status, code }: Told) => status === 401 && code === 'unauthenticated';
    const noHead = closed.filter(({ method }) => method !== 'HEAD');
    expect(await wrongOnes(noHead, (route) => send(route, { port, headers }), right)).toEqual([]);
    expect(await wrongOnes(noHead, (route) => send(route, { socketPath, headers }), right)).toEqual([]);
  });

  it.each(ROLES)(
    'is open to a token of the role %s as far as its role goes, and closed with 403 beyond',
    async (role) => {
      const server = await startTrial({ requireToken: true });
      const tokens = await tokensOf(server);
      const ask = (route: Route) => send(route, { port: server.port, headers: bearer(tokens[role]) });
      const right = (told: Told, route: Route) => (mayEnter(role, route) ? !isOut(told) : told.status === 403);
      expect(await wrongOnes(closed, ask, right)).toEqual([]);
    },
  );

  it('answers only ok on the health route', async () => {
    const server = await startTrial({ requireToken: true });
    expect(await server.ask('GET', '/healthz')).toMatchObject({ status: 200, text: 'ok\n' });
  });
});

describe('S4 every route', () => {
  it.each(['evil.example', 'evil.example:3333', '127.0.0.1.evil.example', 'localhost.', '10.0.0.1'])(
    'answers for no host %s',
    async (host) => {
      const { port } = await startTrial();
      expect(
        await wrongOnes(
          ROUTES,
          (route) => send(route, { port, headers: { host } }),
          ({ status }) => status === 421,
        ),
      ).toEqual([]);
    },
  );

  it.each(['\r\nHost: localhost', '\r\nhost: evil.example'])('refuses a second Host header', async (more) => {
    const { port } = await startTrial();
    const ask = async (route: Route) => {
      const text = `${route.method} ${pathOf(route)} HTTP/1.1\r\nHost: localhost${more}\r\nConnection: close\r\n\r\n`;
      return { ...(await sayRaw({ port }, text)), code: undefined };
    };
    expect(await wrongOnes(ROUTES, ask, ({ status }) => status === 400)).toEqual([]);
  });

  it('refuses a target with another host', async () => {
    const { port } = await startTrial();
    const ask = async (route: Route) => {
      const text = `${route.method} http://evil.example${pathOf(route)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
      return { ...(await sayRaw({ port }, text)), code: undefined };
    };
    expect(await wrongOnes(ROUTES, ask, ({ status }) => status === 400)).toEqual([]);
  });
});

describe('S8 every route', () => {
  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:1' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  ])('refuses cross-site requests: %o', async (headers) => {
    const { port } = await startTrial();
    const ask = (route: Route) => send(route, { port, headers });
    expect(await wrongOnes(ROUTES, ask, ({ status }) => status === 403)).toEqual([]);
  });

  it('accepts requests of the web UI, and of clients that are not browsers', async () => {
    const server = await startTrial();
    const own = { host: `localhost:${server.port}`, origin: `http://localhost:${server.port}` };
    for (const headers of [own, { ...own, 'sec-fetch-site': 'same-origin' }, {}, { 'sec-fetch-site': 'none' }]) {
      expect(await server.ask('GET', '/api/me', { headers })).toMatchObject({ status: 200 });
    }
  });
});

describe('S10 every route', () => {
  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml'])(
    'that writes takes no %s',
    async (type) => {
      const { socket: socketPath } = await startTrial();
      const headers = { 'content-type': type };
      const ask = (route: Route) => send(route, { socketPath, headers, body: '{}' });
      expect(await wrongOnes(writing, ask, ({ status }) => status === 415)).toEqual([]);
    },
  );

  it('accepts either JSON or bytes, not both', async () => {
    const { socket: socketPath } = await startTrial();
    const ask = (route: Route) => {
      const other = route.body === 'bytes' ? 'application/json' : 'application/octet-stream';
      return send(route, { socketPath, headers: { 'content-type': other }, body: '{}' });
    };
    expect(await wrongOnes(writing, ask, ({ status }) => status === 415)).toEqual([]);
  });
});

describe('S33 every route', () => {
  it('refuses a body one byte over its limit before it is sent', async () => {
    const { socket: path } = await startTrial();
    const ask = async (route: Route) => {
      const type = Object.entries(typeOf(route)).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      const length = `content-length: ${route.limits.bodyBytes + 1}\r\n`;
      const head = `${route.method} ${pathOf(route)} HTTP/1.1\r\nhost: localhost\r\n${type.join('')}${length}\r\n`;
      return { ...(await sayRaw({ path }, head)), code: undefined };
    };
    const right = ({ status }: Told, { body }: Route) => status === (body === null ? 400 : 413);
    expect(await wrongOnes(writing, ask, right)).toEqual([]);
  });
});
