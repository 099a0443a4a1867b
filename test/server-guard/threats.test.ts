/** The list of threats that concern HTTP. Each title begins with the number of its threat. */
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../../src/server/auth/tokens.ts';
import { ROUTES } from '../../src/server/http/route-table.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { startTrial } from '../server/trial-server.ts';
import { faultyStore } from '../support/faulty-store.ts';
import { sayRaw } from './raw-client.ts';
import { pathOf, send } from './route-requests.ts';
import { storeDump } from './store-dump.ts';

const reading = ROUTES.filter(({ method }) => method === 'GET' || method === 'HEAD');
const addOne = (data: string) => ({ argument: [{ id: 'j', queue: 'mail', data }] });

it('S1 a server listens only on the loopback by default', async () => {
  const { port } = await startTrial();
  const listening = execFileSync('ss', ['-ltnH'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/)[3] ?? '')
    .filter((address) => address.endsWith(`:${port}`));
  expect(listening).toEqual([`127.0.0.1:${port}`]);
});

it('S9 no GET and no HEAD of the table changes the store', async () => {
  const store = faultyStore(openMemoryStore());
  const server = await startTrial({ store });
  await store.jobs.add([{ id: 'a'.repeat(16), queue: 'mail', data: '{}' }]);
  await store.records.put({ kind: 'queue', key: 'mail', value: '{"concurrency":2}' });
  const before = await storeDump(store);
  for (const route of reading) await send(route, { socketPath: server.socket });
  expect(await storeDump(store)).toEqual(before);
  const reads = ['find', 'history', 'steps', 'list', 'count', 'insight', 'workers'];
  const others = store.calls.slice(1).filter(({ name }) => !reads.includes(name));
  expect(others).toEqual([]);
});

describe('S11 a foreign page', () => {
  it('gets no CORS headers', async () => {
    const { port } = await startTrial();
    const allowed: string[] = [];
    for (const route of ROUTES) {
      const head = `Host: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: ${route.method}\r\n`;
      const { status, headers } = await sayRaw(
        { port },
        `OPTIONS ${pathOf(route)} HTTP/1.1\r\n${head}Access-Control-Request-Headers: content-type\r\n\r\n`,
      );
      const hasAllowed = Object.keys(headers).some((name) => name.startsWith('access-control-'));
      if (hasAllowed || status < 400) allowed.push(pathOf(route));
    }
    expect(allowed).toEqual([]);
  });

  it('opens no WebSocket and no stream', async () => {
    const { port } = await startTrial();
    const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
    for (const more of [`${upgrade}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n`, 'Accept: text/event-stream\r\n']) {
      const text = `GET /api/store/events HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n${more}\r\n`;
      expect(await sayRaw({ port }, text)).toMatchObject({ status: 403 });
    }
  });
});

it('S12 no header or parameter overrides the method', async () => {
  const server = await startTrial();
  const before = await storeDump(server.store);
  const headers = { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE', 'x-http-method': 'DELETE' };
  expect(await server.ask('GET', '/api/me', { headers })).toMatchObject({ status: 200 });
  expect(await server.ask('GET', '/api/me?_method=DELETE', { headers })).toMatchObject({ status: 400 });
  expect(await server.ask('POST', '/api/me', { headers })).toMatchObject({ status: 405 });
  expect(await storeDump(server.store)).toEqual(before);
});

describe('S13 every answer', () => {
  const policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
  const safe: Readonly<Record<string, string>> = {
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
  };
  const missing = (headers: Readonly<Record<string, unknown>>): string[] =>
    Object.keys(safe).filter((name) => headers[name] !== safe[name]);

  it('has headers against sniffing, framing, caching and foreign scripts', async () => {
    const { socket: socketPath, port } = await startTrial();
    for (const route of ROUTES) {
      const { headers } = await send(route, { socketPath });
      expect([pathOf(route), missing(headers)]).toEqual([pathOf(route), []]);
    }
    const odd = ['GET /nowhere HTTP/1.1\r\nHost: localhost', 'PATCH /healthz HTTP/1.1\r\nHost: localhost'];
    for (const text of [...odd, 'GET / HTTP/1.1\r\nHost: evil.example', 'nonsense', 'GET / HTTP/9.9'])
      expect(missing((await sayRaw({ port }, `${text}\r\n\r\n`)).headers)).toEqual([]);
  });

  it('that is a page has no inline script or style', async () => {
    const server = await startTrial();
    for (const { path } of reading.filter(({ answer }) => answer === 'text')) {
      const { headers, text } = await server.ask('GET', path, { over: 'socket' });
      if (!headers['content-type']?.startsWith('text/html')) continue;
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/i);
      expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
    }
  });
});

it('S14 the content of a URL is never reflected as HTML', async () => {
  const server = await startTrial();
  const bad = encodeURIComponent('"><img src=x onerror=alert(1)>');
  for (const path of [
    `/${bad}`,
    `/api/jobs/${bad}`,
    `/api/queues/${bad}`,
    `/login?next=${bad}`,
    `/api/jobs?queue=${bad}`,
  ]) {
    const { status, headers } = await server.ask('GET', path, { over: 'socket' });
    expect([path, status >= 400]).toEqual([path, true]);
    expect(headers['content-type']).toBe('application/problem+json');
  }
});

it('S15 data is sent as JSON with a type that browsers do not sniff', async () => {
  const server = await startTrial();
  const data = JSON.stringify({ html: '</script><script>alert(1)</script>\u2028' });
  await server.store.jobs.add([{ id: 'j', queue: 'mail', data }]);
  const answer = await server.ask('POST', '/api/store/find', { body: { argument: ['j'] } });
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-content-type-options': 'nosniff' });
});

describe('S20 data of a job', () => {
  const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
  const add = async (raw: string) => {
    const server = await startTrial();
    const headers = { 'content-type': 'application/json' };
    const answer = await server.ask('POST', '/api/jobs', { headers, raw: `{"id":"j","queue":"mail","data":${raw}}` });
    expect(server.troubles).toEqual([]);
    return { answer, job: (await server.store.jobs.find(['j']))[0] };
  };

  it.each([
    ['__proto__', '{"__proto__":{"isAdmin":true}}'],
    ['constructor', '{"constructor":{"prototype":{"isAdmin":true}}}'],
    ['a name twice', '{"a":1,"a":2}'],
    ['a lone surrogate', '"\\ud800"'],
    ['a huge number', '1e400'],
    ['400 digits', '1'.repeat(400)],
  ])('with %s is refused or inert', async (_what, raw) => {
    const { answer, job } = await add(raw);
    expect([200, 201, 400]).toContain(answer.status);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    if (answer.status === 400) expect(job).toBeNull();
    else expect(() => JSON.parse(job?.data ?? '') as unknown).not.toThrow();
  });

  it('that is nested 10,000 levels deep is refused, in the body and as a text', async () => {
    expect((await add(deep)).answer).toMatchObject({ status: 400, json: { code: 'bad-input' } });
    const server = await startTrial();
    const answer = await server.ask('POST', '/api/store/add', { body: addOne(deep) });
    expect([200, 400]).toContain(answer.status);
    expect(server.troubles).toEqual([]);
  });
});

describe('S30 a query', () => {
  const paged = reading.filter(({ query }) => 'limit' in query);

  it('for more than a page is limited to one page', async () => {
    const server = await startTrial();
    const jobs = Array.from({ length: 600 }, (_, n) => ({ id: `j${n}`, queue: 'mail', data: '{}' }));
    await server.store.jobs.add(jobs);
    const { status, json } = await server.ask('GET', '/api/jobs?limit=1000000000');
    expect(status).toBe(200);
    expect((json as { jobs: unknown[] }).jobs).toHaveLength(500);
  });

  it.each([
    'limit=-1',
    'limit=0',
    'limit=1e9',
    'limit=x',
    'limit=1&limit=2',
    'days=922337',
    'offset=-1',
    `q=${'a'.repeat(9_000)}`,
  ])('with %s is refused on every list', async (query) => {
    const server = await startTrial();
    for (const route of paged) {
      const { status } = await server.ask('GET', `${pathOf(route)}?${query}`, { over: 'socket' });
      expect([route.path, status]).toEqual([route.path, 400]);
    }
  });

  it('with thousands of filters is refused', async () => {
    const server = await startTrial();
    const query = Array.from({ length: 5_000 }, () => 'a').join('&');
    expect(await server.ask('GET', `/api/jobs?${query}`)).toMatchObject({ status: 400 });
  });
});

it('S36 only its owner can use the socket, whatever the umask', async () => {
  const before = process.umask(0);
  try {
    const { socket } = await startTrial();
    expect(statSync(socket).mode & 0o777).toBe(0o600);
  } finally {
    process.umask(before);
  }
});

describe('S39 the audit', () => {
  const rowsOf = async (server: Awaited<ReturnType<typeof startTrial>>) => {
    const { json } = await server.ask('GET', '/api/audit', { over: 'socket' });
    // The newest row is first.
    return (json as { rows: Readonly<Record<string, unknown>>[] }).rows.toReversed();
  };

  it('has a row for each operation of an operator or admin: actor, address, action and result', async () => {
    const server = await startTrial();
    await server.store.jobs.add([{ id: 'j', queue: 'mail', data: '{}' }]);
    await server.ask('POST', '/api/store/cancel', { body: { argument: [{ id: 'j' }] } });
    await server.ask('POST', '/api/store/cancel', { body: {} });
    await server.ask('POST', '/api/tokens', { over: 'socket', body: { name: 'x', role: 'read' } });
    await server.ask('GET', '/api/me');
    expect(await rowsOf(server)).toMatchObject([
      { actor: 'loopback', role: 'operate', from: '127.0.0.1', action: 'store.cancel', status: 200, result: 'ok' },
      { actor: 'loopback', action: 'store.cancel', status: 400, result: 'bad-input' },
      {
        actor: 'socket',
        role: 'admin',
        from: 'socket',
        action: 'tokens.make',
        target: 'POST /api/tokens',
        status: 201,
      },
    ]);
  });

  it('says what changed on what, from which value to which, and shows no secret', async () => {
    const server = await startTrial();
    const { records } = server.store;
    const put = (kind: string, key: string, value: unknown, ifVersion?: number) =>
      server.ask('POST', '/api/store/records/put', {
        over: 'socket',
        body: { argument: { kind, key, value: JSON.stringify(value), ...(ifVersion !== undefined && { ifVersion }) } },
      });
    await put('queue', 'mail', { leaseMs: 30_000, env: { KEY: 'hush' } });
    await put('queue', 'mail', { leaseMs: 90_000, env: { KEY: 'hush-hush' }, throttles: ['a', 'b'] });
    await put('queue', 'mail', {}, 99);
    await put('clock', 'schedules', { at: 1 });
    await server.ask('POST', '/api/queues/mail/pause', { body: { note: 'the tape is full' } });
    await server.store.jobs.add([{ id: 'j', queue: 'mail', data: '{"hush":1}', name: 'a letter' }]);
    await server.ask('PATCH', '/api/jobs/j', { body: { priority: 3, data: { hush: 2 } } });
    await server.ask('POST', '/api/jobs/cancel', { body: { query: { queue: 'mail' } } });
    const mail = { kind: 'queue', key: 'mail', name: null, queue: null };
    const rows = await rowsOf(server);
    expect(rows.map(({ verb, subject, changes, result }) => ({ verb, subject, changes, result }))).toEqual([
      {
        verb: 'Wrote',
        subject: mail,
        result: 'ok',
        changes: [
          { name: 'lease', from: null, to: '30s' },
          { name: 'env', from: null, to: 'KEY' },
        ],
      },
      {
        verb: 'Wrote',
        subject: mail,
        result: 'ok',
        changes: expect.arrayContaining([
          { name: 'lease', from: '30s', to: '1m30s' },
          { name: 'env', from: 'KEY', to: 'KEY' },
          { name: 'throttles', from: null, to: 'a, b' },
        ]) as unknown,
      },
      { verb: 'Wrote', subject: mail, changes: [], result: 'version-conflict' },
      {
        verb: 'Paused',
        subject: mail,
        result: 'ok',
        changes: expect.arrayContaining([
          { name: 'state', from: null, to: 'paused' },
          { name: 'note', from: null, to: 'the tape is full' },
        ]) as unknown,
      },
      {
        verb: 'Changed',
        subject: { kind: 'job', key: 'j', name: 'a letter', queue: 'mail' },
        result: 'ok',
        changes: [
          { name: 'priority', from: '0', to: '3' },
          { name: 'data', from: 'not shown', to: 'not shown' },
        ],
      },
      {
        verb: 'Cancelled',
        subject: { kind: 'jobs', key: 'jobs with queue mail', name: null, queue: null },
        changes: [{ name: 'jobs', from: null, to: '1' }],
        result: 'ok',
      },
    ]);
    expect(JSON.stringify(await records.list({ kind: 'audit', limit: 100 }))).not.toContain('hush');
  });

  it('cannot be changed or deleted through the API, not even by an admin', async () => {
    const server = await startTrial();
    await server.ask('POST', '/api/login/link', { over: 'socket' });
    const [row] = await server.store.records.list({ kind: 'audit', limit: 1 });
    const argument = { kind: 'audit', key: row?.key ?? '' };
    const put = { argument: { ...argument, value: '{}' } };
    expect(await server.ask('POST', '/api/store/records/put', { over: 'socket', body: put })).toMatchObject({
      status: 403,
    });
    expect(await server.ask('POST', '/api/store/records/delete', { over: 'socket', body: { argument } })).toMatchObject(
      { status: 403 },
    );
    expect(await server.store.records.get('audit', row?.key ?? '')).toEqual(row);
    expect(row?.expiresAt).toBeGreaterThan(Date.now() + 89 * 86_400_000);
  });

  it('cannot be forged by a name or a URL', async () => {
    const server = await startTrial();
    const name = 'x\u001b[2J\u202e';
    expect(await server.ask('POST', '/api/tokens', { over: 'socket', body: { name, role: 'admin' } })).toMatchObject({
      status: 400,
    });
    // Through a path with fewer checks than the route.
    const odd = { name: 'a\u2028b\u202e\u009b2J', role: 'admin' as const, expiresAt: null };
    const { text: token } = await makeToken(server.store.records, odd, Date.now());
    const headers = { authorization: `Bearer ${token}` };
    expect(await server.ask('POST', '/api/login/link', { headers })).toMatchObject({ status: 201 });
    expect((await rowsOf(server)).at(-1)).toMatchObject({ actor: 'token:a\\u2028b\\u202e\\u009b2J' });
    await server.ask('DELETE', '/api/tokens/%0d%0aforged%1b[2J', { over: 'socket' });
    const text = (await server.ask('GET', '/api/audit', { over: 'socket' })).text;
    expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
  });

  it('is returned page by page, newest first', async () => {
    let now = Date.now();
    const server = await startTrial({ access: { now: () => (now += 1) } });
    for (let count = 0; count < 25; count += 1) await server.ask('POST', '/api/login/link', { over: 'socket' });
    const times: number[] = [];
    for (let after = ''; ; ) {
      const { json } = await server.ask('GET', `/api/audit?limit=10${after}`, { over: 'socket' });
      const { rows, next } = json as { rows: { at: number }[]; next: string | null };
      times.push(...rows.map(({ at }) => at));
      if (next === null) break;
      after = `&after=${next}`;
    }
    expect(times).toHaveLength(25);
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });
});

describe('changing which code a queue runs', () => {
  const put = (value: object, ifVersion?: number) => ({
    argument: {
      kind: 'queue',
      key: 'mail',
      value: JSON.stringify(value),
      ...(ifVersion !== undefined && { ifVersion }),
    },
  });

  it.each([{ script: '/bin/id' }, { execPrefix: ['sh', '-c'] }, { env: { LD_PRELOAD: '/x' } }, { user: 'root' }])(
    'by %o is for admins alone',
    async (settings) => {
      const server = await startTrial();
      const write = (over: 'tcp' | 'socket') =>
        server.ask('POST', '/api/store/records/put', { over, body: put(settings) });
      expect(await write('tcp')).toMatchObject({ status: 403 });
      expect(await write('socket')).toMatchObject({ status: 200, json: { ok: true } });
      const remove = { argument: { kind: 'queue', key: 'mail' } };
      expect(await server.ask('POST', '/api/store/records/delete', { body: remove })).toMatchObject({ status: 403 });
    },
  );

  it('is not affected when an operator changes other settings', async () => {
    const server = await startTrial();
    const code = { script: '/opt/work', env: { KEY: 'secret' }, user: 'nobody' };
    await server.ask('POST', '/api/store/records/put', { over: 'socket', body: put(code) });
    const seen = await server.ask('POST', '/api/store/records/get', {
      body: { argument: { kind: 'queue', key: 'mail' } },
    });
    expect(seen.text).not.toContain('secret');
    const { env: _hidden, ...shown } = code;
    const answer = await server.ask('POST', '/api/store/records/put', { body: put({ ...shown, state: 'paused' }) });
    expect(answer).toMatchObject({ status: 200, json: { ok: true } });
    const kept = await server.store.records.get('queue', 'mail');
    expect(JSON.parse(kept?.value ?? '')).toEqual({ ...code, state: 'paused' });
  });
});
