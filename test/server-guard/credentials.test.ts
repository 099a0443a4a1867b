/** Tokens, cookies and login links: what they permit, and for how long. */
import { describe, expect, it } from 'vitest';
import { makeLoginCode } from '../../src/server/auth/sessions.ts';
import { makeToken } from '../../src/server/auth/tokens.ts';
import type { Role } from '../../src/wire/role.ts';
import type { Answer, TrialOptions, TrialServer } from '../server/trial-server.ts';
import { startTrial } from '../server/trial-server.ts';
import { hearRaw, openRaw, sayRaw, untilClosed } from './raw-client.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const WRONG = `lh_${'0'.repeat(16)}_${'A'.repeat(43)}`;
const MINUTE = 60_000;

async function aToken({ store }: TrialServer, role: Role = 'read', expiresAt: number | null = null) {
  return makeToken(store.records, { name: 'a program', role, expiresAt }, Date.now());
}

const strict = (options: TrialOptions = {}) => startTrial({ requireToken: true, ...options });
const cookieIn = ({ headers }: Answer): string => (headers['set-cookie']?.[0] ?? '').split(';')[0] ?? '';

describe('a token', () => {
  it('is returned once, has 256 bits, and only its hash is stored', async () => {
    const server = await strict();
    const body = { name: 'build', role: 'submit', expiresIn: '90d' };
    const made = await server.ask('POST', '/api/tokens', { over: 'socket', body });
    const { token, id } = made.json as { token: string; id: string };
    expect(made.status).toBe(201);
    expect(Buffer.from(token.slice(20), 'base64url').length).toBe(32);
    const record = await server.store.records.get('token', id);
    expect(record?.value).toMatch(/"sha256":"[0-9a-f]{64}"/);
    expect(record?.value).not.toContain(token.slice(20));
    expect((await server.ask('GET', '/api/tokens', { over: 'socket' })).text).not.toContain(token.slice(20));
    expect(await server.ask('GET', '/api/me', { headers: bearer(token) })).toMatchObject({
      json: { actor: 'token:build', role: 'submit', token: id },
    });
  });

  it('is valid until it expires', async () => {
    let now = Date.now();
    const server = await strict({ access: { now: () => now } });
    const { text } = await aToken(server, 'read', now + MINUTE);
    expect(await server.ask('GET', '/api/me', { headers: bearer(text) })).toMatchObject({ status: 200 });
    now += MINUTE;
    expect(await server.ask('GET', '/api/me', { headers: bearer(text) })).toMatchObject({ status: 401 });
  });

  it('that is revoked is refused within two seconds', async () => {
    let now = Date.now();
    const server = await strict({ access: { now: () => now } });
    const { text, token } = await aToken(server);
    expect(await server.ask('GET', '/api/me', { headers: bearer(text) })).toMatchObject({ status: 200 });
    expect(await server.ask('DELETE', `/api/tokens/${token.id}`, { over: 'socket' })).toMatchObject({ status: 204 });
    now += 2_000;
    expect(await server.ask('GET', '/api/me', { headers: bearer(text) })).toMatchObject({ status: 401 });
    expect(await server.ask('DELETE', `/api/tokens/${token.id}`, { over: 'socket' })).toMatchObject({ status: 404 });
  });

  it.each(['Basic YTpi', 'Bearer', 'Bearer  ', `Bearer ${WRONG} x`, 'bearer lh_', `Token ${WRONG}`])(
    'as %s lets nobody in, not even by the socket',
    async (authorization) => {
      const server = await startTrial();
      for (const over of ['tcp', 'socket'] as const)
        expect(await server.ask('GET', '/api/me', { headers: { authorization }, over })).toMatchObject({ status: 401 });
    },
  );

  it('with a valid id and a wrong secret is refused, like such a cookie and such a code', async () => {
    const server = await strict();
    const { text } = await aToken(server, 'admin');
    const cookie = cookieIn(await server.ask('POST', '/api/login', { headers: bearer(text) }));
    const code = await makeLoginCode(server.store.records, Date.now());
    const spoilt = (secret: string) => `${secret.slice(0, -2)}${secret.endsWith('AA') ? 'BB' : 'AA'}`;
    const me = (headers: Record<string, string>) => server.ask('GET', '/api/me', { headers });
    expect(await me(bearer(text))).toMatchObject({ status: 200 });
    expect(await me(bearer(spoilt(text)))).toMatchObject({ status: 401 });
    expect(await me({ cookie })).toMatchObject({ status: 200 });
    expect(await me({ cookie: spoilt(cookie) })).toMatchObject({ status: 401 });
    expect(await server.ask('POST', '/api/login', { headers: bearer(spoilt(code)) })).toMatchObject({ status: 401 });
    expect(await server.ask('POST', '/api/login', { headers: bearer(code) })).toMatchObject({ status: 200 });
  });

  it('that is damaged in the store is refused', async () => {
    const server = await strict();
    const { text, token } = await aToken(server, 'admin');
    for (const value of ['{', '{}', '{"role":"admin","sha256":""}', 'null'])
      for (const key of [token.id]) {
        await server.store.records.put({ kind: 'token', key, value });
        expect(await server.ask('GET', '/api/me', { headers: bearer(text) })).toMatchObject({ status: 401 });
      }
  });

  it('is not accepted as a session, nor a session as a token', async () => {
    const server = await strict();
    const { text } = await aToken(server, 'admin');
    const login = await server.ask('POST', '/api/login', { headers: bearer(text) });
    const session = cookieIn(login).split('=')[1] ?? '';
    expect(await server.ask('GET', '/api/me', { headers: bearer(session) })).toMatchObject({ status: 401 });
    const headers = { cookie: `longhaul-${server.port}=${text}` };
    expect(await server.ask('GET', '/api/me', { headers })).toMatchObject({ status: 401 });
  });
});

it('S5 of 200 invalid tokens in a minute, the first 20 get 401 and the others 429; a valid one is accepted throughout', async () => {
  let now = Date.now();
  const server = await strict({ access: { now: () => now } });
  const { text } = await aToken(server);
  const statuses: number[] = [];
  for (let count = 0; count < 200; count += 1) {
    const { status, headers } = await server.ask('GET', '/api/me', { headers: bearer(WRONG) });
    statuses.push(status);
    if (status === 429) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    if (count % 50 === 0)
      expect(await server.ask('GET', '/api/me', { headers: bearer(text) })).toMatchObject({ status: 200 });
  }
  expect(statuses).toEqual([...Array<number>(20).fill(401), ...Array<number>(180).fill(429)]);
  now += MINUTE;
  expect(await server.ask('GET', '/api/me', { headers: bearer(WRONG) })).toMatchObject({ status: 401 });
});

it('S6 a token in a URL is refused under any parameter name, even a valid one, and is in no record', async () => {
  const server = await startTrial();
  const { text } = await aToken(server, 'admin');
  for (const query of [`token=${text}`, `access_token=${text}`, `x=${text}`, 'token=abc', 'a=1&auth=abc', 'api_key'])
    expect(await server.ask('GET', `/api/me?${query}`)).toMatchObject({ status: 400, json: { code: 'bad-request' } });
  expect(await server.ask('POST', `/api/queues/${text}/pause`)).toMatchObject({ status: 400 });
  const rows = await server.store.records.list({ kind: 'audit', limit: 100 });
  expect(JSON.stringify([rows, server.troubles])).not.toContain(text);
});

describe('S7 an open stream', () => {
  const open = async ({ port }: TrialServer, headers: string) => {
    const stream = await openRaw({ port });
    stream.write(`GET /api/store/events HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n\r\n`);
    expect(await hearRaw(stream)).toMatchObject({ status: 200 });
    return stream;
  };

  it('is closed within 5 s when its token is revoked, like that of a session made with it', async () => {
    const server = await strict();
    const { text, token } = await aToken(server);
    const other = await aToken(server);
    const login = await server.ask('POST', '/api/login', { headers: bearer(text) });
    const streams = [
      await open(server, `authorization: Bearer ${text}`),
      await open(server, `cookie: ${cookieIn(login)}`),
    ];
    const stays = await open(server, `authorization: Bearer ${other.text}`);
    const startedAt = performance.now();
    await server.ask('DELETE', `/api/tokens/${token.id}`, { over: 'socket' });
    await Promise.all(streams.map((stream) => untilClosed(stream)));
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(stays.closed).toBe(false);
    stays.destroy();
  });
});

describe('S8 the session cookie', () => {
  it('is hidden from scripts and other sites, and is Secure over TLS', async () => {
    const server = await strict();
    const { text } = await aToken(server, 'operate');
    const plain = await server.ask('POST', '/api/login', { headers: bearer(text) });
    expect(plain).toMatchObject({ status: 200, json: { role: 'operate' } });
    expect(plain.headers['set-cookie']?.[0]).toMatch(
      /^longhaul-\d+=lhs_\S+; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
    );
    const headers = { ...bearer(text), host: 'localhost', origin: 'https://localhost' };
    const overTls = await server.ask('POST', '/api/login', { headers });
    expect(overTls.headers['set-cookie']?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
  });

  it('permits reads, and writes only from the web UI', async () => {
    const server = await strict();
    const { text } = await aToken(server, 'operate');
    const cookie = cookieIn(await server.ask('POST', '/api/login', { headers: bearer(text) }));
    const write = (headers: Record<string, string>) =>
      server.ask('POST', '/api/logout', { headers: { cookie, ...headers } });
    expect(await server.ask('GET', '/api/me', { headers: { cookie } })).toMatchObject({ status: 200 });
    expect(await write({})).toMatchObject({ status: 403 });
    expect(await write({ 'sec-fetch-site': 'none' })).toMatchObject({ status: 403 });
    expect(await write({ 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
    expect(await write({ 'sec-fetch-site': 'same-origin' })).toMatchObject({ status: 204 });
    expect(await server.ask('GET', '/api/me', { headers: { cookie } })).toMatchObject({ status: 200 });
  });

  it('is not valid after a logout, nor after twelve hours', async () => {
    let now = Date.now();
    const server = await strict({ access: { now: () => now }, context: { now: () => now } });
    const { text } = await aToken(server, 'operate');
    const login = async () => cookieIn(await server.ask('POST', '/api/login', { headers: bearer(text) }));
    const ask = (cookie: string) => server.ask('GET', '/api/me', { headers: { cookie } });
    const [left, old] = [await login(), await login()];
    await server.ask('POST', '/api/logout', { headers: { cookie: left, 'sec-fetch-site': 'same-origin' } });
    now += 2_000;
    expect(await ask(left)).toMatchObject({ status: 401 });
    expect(await ask(old)).toMatchObject({ status: 200 });
    now += 12 * 60 * MINUTE;
    expect(await ask(old)).toMatchObject({ status: 401 });
  });
});

describe('a login link', () => {
  it('is valid for one login as admin, and its page needs no authentication', async () => {
    const server = await strict();
    const code = await makeLoginCode(server.store.records, Date.now());
    const logIn = () => server.ask('POST', '/api/login', { headers: bearer(code) });
    expect(await server.ask('GET', '/api/me', { headers: bearer(code) })).toMatchObject({ status: 401 });
    const answers = await Promise.all([logIn(), logIn(), logIn()]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 401, 401]);
    const cookie = cookieIn(answers.find(({ status }) => status === 200) ?? answers[0]);
    expect(await server.ask('GET', '/api/tokens', { headers: { cookie } })).toMatchObject({ status: 200 });
    expect(await server.ask('GET', '/login')).toMatchObject({ status: 200 });
  });

  it('is created by an admin, and expires after an hour', async () => {
    let now = Date.now();
    const server = await startTrial({ access: { now: () => now } });
    expect(await server.ask('POST', '/api/login/link')).toMatchObject({ status: 403 });
    const made = await server.ask('POST', '/api/login/link', { over: 'socket' });
    const { code } = made.json as { code: string };
    const record = await server.store.records.get('login-code', code.split('_')[1] ?? '');
    expect(record?.expiresAt).toBeLessThanOrEqual(Date.now() + 60 * MINUTE);
    now += 61 * MINUTE;
    expect(made.status).toBe(201);
  });

  it('requires a credential', async () => {
    const server = await startTrial();
    expect(await server.ask('POST', '/api/login')).toMatchObject({ status: 400 });
  });
});

describe('a caller on the loopback', () => {
  it('has the role operate, but a proxy there does not', async () => {
    const server = await startTrial({ access: { hosts: ['queue.example'] } });
    const status = async (headers: Record<string, string>) => (await server.ask('GET', '/api/me', { headers })).status;
    expect(await server.ask('GET', '/api/me')).toMatchObject({ json: { actor: 'loopback', role: 'operate' } });
    expect(await status({ 'x-forwarded-for': '10.0.0.1' })).toBe(401);
    expect(await status({ forwarded: 'for=10.0.0.1' })).toBe(401);
    expect(await status({ via: '1.1 proxy' })).toBe(401);
    expect(await status({ host: 'queue.example' })).toBe(401);
  });

  it('may use a listed host name with a token', async () => {
    const server = await startTrial({ access: { hosts: ['Queue.example'] } });
    const { text } = await aToken(server);
    const headers = { ...bearer(text), host: 'queue.example:8080' };
    expect(await server.ask('GET', '/api/me', { headers })).toMatchObject({ status: 200 });
    expect(await sayRaw({ port: server.port }, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatchObject({ status: 421 });
  });
});

it('a relay can add and commit drafts, and nothing else', async () => {
  const server = await strict();
  const { text } = await aToken(server, 'relay');
  const ask = (method: string, path: string, body?: unknown) =>
    server.ask(method, path, { headers: bearer(text), body });
  expect(await ask('POST', '/api/jobs', { id: 'a', queue: 'mail', data: {} })).toMatchObject({ status: 403 });
  expect(
    await ask('POST', '/api/jobs', [
      { id: 'b', queue: 'mail', draft: true },
      { id: 'a', queue: 'mail' },
    ]),
  ).toMatchObject({ status: 403 });
  expect(await ask('POST', '/api/jobs', { id: 'b', queue: 'mail', data: {}, draft: true })).toMatchObject({
    status: 201,
  });
  expect(await ask('POST', '/api/jobs/b/commit')).toMatchObject({ status: 200 });
  expect(await ask('GET', '/api/jobs/b')).toMatchObject({ status: 403 });
  expect(await ask('POST', '/api/jobs/b/cancel')).toMatchObject({ status: 403 });
});
