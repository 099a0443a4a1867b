/** Limits on bodies, time, connections, rates and load. Excess is refused with a reason, and other callers are not affected. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { makeToken } from '../../src/server/auth/tokens.ts';
import { connectionLimits } from '../../src/server/http/connection-limit.ts';
import { Overload } from '../../src/server/http/overload.ts';
import { JSON_LIMIT } from '../../src/server/http/route.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { startTrial } from '../server/trial-server.ts';
import { faultyStore } from '../support/faulty-store.ts';
import { testSize } from '../support/test-size.ts';
import { hearRaw, openRaw, sayRaw, untilClosed } from './raw-client.ts';

const JSON_HEAD = 'Host: localhost\r\nContent-Type: application/json\r\n';
const find = { body: { argument: ['j'] } };
const manyJobs = (count: number, queue = 'mail') =>
  Array.from({ length: count }, (_, n) => ({ id: `${queue}-${n}-${Math.random()}`, queue, data: '{}' }));

describe('S32 a slow client', () => {
  const count = testSize({ small: 200, full: 2_000 });

  it(`with incomplete headers is closed within 15 s (${count} at once), and with a slow body gets 408 after 30 s; work continues`, async () => {
    const server = await startTrial();
    const { port } = server;
    const slow = await Promise.all(Array.from({ length: count }, () => openRaw({ port })));
    for (const socket of slow) socket.write('GET /api/me HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const startedAt = performance.now();
    const drip = setInterval(() => slow.forEach((socket) => socket.writable && socket.write('x')), 1_000);
    const body = await openRaw({ port });
    body.write(`POST /api/store/find HTTP/1.1\r\n${JSON_HEAD}Content-Length: 100000\r\n\r\n{`);
    const dripBody = setInterval(() => body.writable && body.write(' '), 500);
    try {
      const told = hearRaw(body, 50_000);
      await Promise.all(slow.map((socket) => untilClosed(socket, 30_000)));
      expect(performance.now() - startedAt).toBeLessThan(20_000);
      expect(await server.ask('POST', '/api/store/find', find)).toMatchObject({ status: 200 });
      expect(await told).toMatchObject({ status: 408, headers: { connection: 'close' } });
    } finally {
      clearInterval(drip);
      clearInterval(dripBody);
      for (const socket of [...slow, body]) socket.destroy();
    }
  });

  it('that does not read a stream is dropped when a mebibyte is unread', async () => {
    const server = await startTrial();
    const reader = await openRaw({ port: server.port });
    reader.write('GET /api/store/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await hearRaw(reader)).toMatchObject({ status: 200 });
    reader.pause();
    let heard = 0;
    let said = 0;
    const unsubscribe = server.store.jobs.subscribe((events) => void (said += JSON.stringify(events).length));
    // The kernel buffers some megabytes per connection; the rest is in the process.
    for (let round = 0; said < 24 * 1024 ** 2; round += 1) {
      await server.store.jobs.add(manyJobs(1_000, `queue-${round}`));
      await delay(0);
    }
    unsubscribe();
    reader.on('data', (chunk: Buffer) => void (heard += chunk.length));
    await untilClosed(reader);
    expect(heard).toBeLessThan(said);
  });
});

describe('S33 a body', () => {
  it.each(['1048577', '1000000000000000'])('of %s bytes is refused before it is sent', async (length) => {
    const { port } = await startTrial();
    const head = `POST /api/jobs HTTP/1.1\r\n${JSON_HEAD}Content-Length: ${length}\r\n\r\n`;
    expect(await sayRaw({ port }, head)).toMatchObject({ status: 413, headers: { connection: 'close' } });
  });

  it('of exactly the limit is read', async () => {
    const server = await startTrial();
    const raw = `{"queue":"mail","data":"${'x'.repeat(JSON_LIMIT - 26)}"}`;
    expect(Buffer.byteLength(raw)).toBe(JSON_LIMIT);
    const answer = await server.ask('POST', '/api/jobs', { headers: { 'content-type': 'application/json' }, raw });
    expect(answer).toMatchObject({ status: 400, json: { code: 'bad-input' } });
  });

  it('without an end is refused at the limit', async () => {
    const { port } = await startTrial();
    const socket = await openRaw({ port });
    socket.write(`POST /api/jobs HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const told = hearRaw(socket);
    let sent = 0;
    for (; sent < 64 && socket.writable; sent += 1) {
      socket.write(chunk);
      await delay(1);
    }
    expect(await told).toMatchObject({ status: 413 });
    await untilClosed(socket);
  });

  it('with Expect gets 100 Continue only where it will be read', async () => {
    const { port } = await startTrial();
    const head = (length: number) =>
      `POST /api/store/find HTTP/1.1\r\n${JSON_HEAD}Content-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;
    const socket = await openRaw({ port });
    const body = JSON.stringify({ argument: ['j'] });
    socket.write(head(body.length));
    expect(await hearRaw(socket)).toMatchObject({ status: 100 });
    socket.write(body);
    expect(await hearRaw(socket)).toMatchObject({ status: 200 });
    socket.destroy();
    expect(await sayRaw({ port }, head(1e12))).toMatchObject({ status: 413 });
    const nobody = head(10).replace('localhost', 'evil.example');
    expect(await sayRaw({ port }, nobody)).toMatchObject({ status: 421 });
  });

  it('of a refused request is not read', async () => {
    const { port } = await startTrial({ requireToken: true });
    const socket = await openRaw({ port });
    socket.write(`POST /api/jobs HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    expect(await hearRaw(socket)).toMatchObject({ status: 401, headers: { connection: 'close' } });
    await untilClosed(socket);
  });

  it('with headers beyond 16 KiB is refused', async () => {
    const { port } = await startTrial();
    const text = `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`;
    expect(await sayRaw({ port }, text)).toMatchObject({ status: 431 });
  });
});

describe('S34 connections', () => {
  it('beyond the limit are refused and closed; open ones and the socket are not affected', async () => {
    const server = await startTrial({ connections: { tcp: 50, socket: 5 } });
    const { port, socket: path } = server;
    const healthy = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
    const inside = await Promise.all(Array.from({ length: 50 }, () => openRaw({ port })));
    for (const socket of inside) {
      socket.write(healthy);
      expect(await hearRaw(socket)).toMatchObject({ status: 200 });
    }
    const outside = await Promise.all(Array.from({ length: 20 }, () => openRaw({ port })));
    const told = await Promise.all(outside.map((socket) => hearRaw(socket)));
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set([503]));
    await Promise.all(outside.map((socket) => untilClosed(socket)));
    inside[0]?.write(healthy);
    expect(await hearRaw(inside[0] as never)).toMatchObject({ status: 200 });
    expect(await sayRaw({ path }, healthy)).toMatchObject({ status: 200 });
    for (const socket of inside) socket.destroy();
    await expect.poll(async () => (await sayRaw({ port }, healthy)).status, { timeout: 10_000 }).toBe(200);
  });

  it('never exceed the file descriptor limit', () => {
    expect(connectionLimits(1_000_000)).toEqual({ tcp: 12_000, socket: 2_000 });
    const { tcp, socket } = connectionLimits(1_024);
    expect(tcp + socket).toBeLessThanOrEqual(512);
    expect(tcp).toBeGreaterThan(300);
  });
});

describe('S35 a rate', () => {
  it('of requests applies to each token separately', async () => {
    let now = Date.now();
    const rates = { requestsPerSecond: 5, jobsPerSecond: null };
    const server = await startTrial({ access: { now: () => now, rates } });
    const aToken = async (name: string) =>
      (await makeToken(server.store.records, { name, role: 'read', expiresAt: null }, now)).text;
    const [greedy, modest] = [await aToken('greedy'), await aToken('modest')];
    const ask = (token: string) => server.ask('GET', '/api/me', { headers: { authorization: `Bearer ${token}` } });
    const answers = [];
    for (let count = 0; count < 60; count += 1) answers.push(await ask(greedy));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(answers.at(-1)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(await ask(modest)).toMatchObject({ status: 200 });
    now += 1_000;
    expect(await ask(greedy)).toMatchObject({ status: 200 });
  });

  it('of jobs applies to each queue separately, over every route', async () => {
    let now = Date.now();
    const rates = { requestsPerSecond: null, jobsPerSecond: 10 };
    const server = await startTrial({ access: { now: () => now, rates } });
    const add = (count: number, queue: string) =>
      server.ask('POST', '/api/store/add', { body: { argument: manyJobs(count, queue) } });
    expect(await add(150, 'mail')).toMatchObject({ status: 200 });
    expect(await add(1, 'mail')).toMatchObject({ status: 429, json: { code: 'too-many-requests' } });
    const one = { body: { queue: 'mail', data: {} } };
    const other = await server.ask('POST', '/api/jobs', one);
    expect(other).toMatchObject({ status: 429 });
    now += Number(other.headers['retry-after']) * 1_000;
    expect(await server.ask('POST', '/api/jobs', one)).toMatchObject({ status: 201 });
    expect(await add(1, 'other')).toMatchObject({ status: 200 });
  });
});

describe('under overload', () => {
  it('the server refuses reads and new jobs, and admits workers and operators', async () => {
    const store = faultyStore(openMemoryStore());
    const server = await startTrial({ store, access: { overload: { underWay: 3 } } });
    store.break(['find'], 'hang', 3);
    const hanging = Array.from({ length: 3 }, () => server.ask('POST', '/api/store/find', find));
    await expect.poll(() => store.callsOf('find').length, { timeout: 10_000 }).toBe(3);
    const refused = await server.ask('POST', '/api/store/find', find);
    expect(refused).toMatchObject({ status: 503, json: { code: 'overloaded' } });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    const cancel = { body: { argument: [{ id: 'j' }] } };
    expect(await server.ask('POST', '/api/store/cancel', cancel)).toMatchObject({ status: 200 });
    expect(await server.ask('GET', '/healthz')).toMatchObject({ status: 200 });
    store.heal();
    for (const answer of await Promise.all(hanging)) expect(answer).toMatchObject({ status: 200 });
    expect(await server.ask('POST', '/api/store/find', find)).toMatchObject({ status: 200 });
  });

  it('the server bounds the memory of all bodies together', async () => {
    const server = await startTrial({ access: { overload: { heldBytes: 1_000 } } });
    const large = { body: { argument: Array.from({ length: 200 }, (_, n) => `job-${n}`) } };
    expect(await server.ask('POST', '/api/store/find', large)).toMatchObject({ status: 503 });
    expect(await server.ask('POST', '/api/store/find', find)).toMatchObject({ status: 200 });
  });

  it('an event loop that is late repeatedly counts as overload, but one long pause does not', () => {
    let now = 0;
    const load = new Overload({ lagMs: 1_000 }, () => now);
    const gone = new AbortController().signal;
    const isOpen = (role: 'read' | 'operate') => {
      try {
        load.enter({ role, answer: 'none' }, gone);
        return true;
      } catch {
        return false;
      }
    };
    const late = () => load.check((now += 1_500));
    late();
    late();
    expect(isOpen('read')).toBe(true);
    late();
    expect([isOpen('read'), isOpen('operate')]).toEqual([false, true]);
    load.check((now += 250));
    expect(isOpen('read')).toBe(true);
    load.stop();
  });
});
