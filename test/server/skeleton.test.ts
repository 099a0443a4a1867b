/** Checks of every request before its route runs: hosts, origins, content types, sizes, bodies. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { anything, object, text } from '../../src/core/input/check.ts';
import { events, json } from '../../src/server/http/reply.ts';
import { route } from '../../src/server/http/route.ts';
import { ROUTES } from '../../src/server/http/route-table.ts';
import { handlesLeftBy } from '../support/open-handles.ts';
import { openTrial, startTrial } from './trial-server.ts';

const echoBody = object({ value: anything, word: text({ max: 5 }) });
const echo = route({
  name: 'echo',
  method: 'POST',
  path: '/api/echo/{word}',
  about: 'Returns its input.',
  role: 'operate',
  params: { word: text({ max: 5 }) },
  query: { a: text({ max: 3 }) },
  body: echoBody,
  limits: { bodyBytes: 2_000 },
  answer: anything,
  handle: ({ params, query, body }) => json({ params, query, body }),
});
const secret = route({
  name: 'secret',
  method: 'DELETE',
  path: '/api/secret',
  about: 'Requires the role admin.',
  role: 'admin',
  answer: anything,
  handle: ({ principal }) => json(principal),
});
const endless = route({
  name: 'endless',
  method: 'GET',
  path: '/api/endless',
  about: 'Streams until the reader disconnects.',
  role: 'read',
  answer: 'events',
  handle: () =>
    events(async (stream) => {
      stream.send({ id: '1', event: 'word', data: 'two\nlines' });
      await new Promise((resolve) => stream.signal.addEventListener('abort', resolve));
    }),
});
const broken = route({
  name: 'broken',
  method: 'GET',
  path: '/api/broken',
  about: 'Throws.',
  role: 'read',
  answer: anything,
  handle: () => {
    throw new Error('a secret of the server');
  },
});
const start = () => startTrial({ routes: [...ROUTES, echo, secret, endless, broken] });

describe('a request', () => {
  it('is answered over TCP and over the socket', async () => {
    const server = await start();
    const asked = { body: { value: [1], word: 'b' } };
    const expected = { status: 200, json: { params: { word: 'a/b' }, query: { a: 'x y' }, body: asked.body } };
    expect(await server.ask('POST', '/api/echo/a%2Fb?a=x+y', asked)).toMatchObject(expected);
    expect(await server.ask('POST', '/api/echo/a%2Fb?a=x+y', { ...asked, over: 'socket' })).toMatchObject(expected);
  });

  it('gets all its problems together, each with its path', async () => {
    const server = await start();
    const answer = await server.ask('POST', '/api/echo/too-long?a=long&b=1', { body: { word: 5, wrod: 1 } });
    expect(answer).toMatchObject({ status: 400, headers: { 'content-type': 'application/problem+json' } });
    expect(answer.json).toMatchObject({ code: 'bad-input', status: 400, type: '/api#error-bad-input' });
    const { problems } = answer.json as { problems: { path: string }[] };
    expect(problems.map(({ path }) => path)).toEqual(['word', 'a', 'b', 'word', 'wrod']);
  });

  it.each([
    ['{"value": 1,}', 'is not valid JSON: unexpected "}" at line 1, column 13'],
    ['{"value":\n tru', 'is not valid JSON: unexpected end at line 2, column 5'],
    [Buffer.from([0x22, 0xff, 0x22]), 'is not valid UTF-8'],
    [`{"value":${'['.repeat(300)}${']'.repeat(300)}}`, 'is nested deeper than 210 levels'],
  ])('is refused with the problem of the body %s', async (raw, message) => {
    const server = await start();
    const answer = await server.ask('POST', '/api/echo/a', { raw, headers: { 'content-type': 'application/json' } });
    expect(answer).toMatchObject({ status: 400, json: { problems: [{ message }] } });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'is refused with the content type %s',
    async (type) => {
      const server = await start();
      const answer = await server.ask('POST', '/api/echo/a', { raw: '{}', headers: { 'content-type': type } });
      expect(answer).toMatchObject({ status: 415, json: { code: 'wrong-content-type' } });
    },
  );

  it('that is too large is refused before its body is read', async () => {
    const server = await start();
    const headers = { 'content-type': 'application/json' };
    expect(await server.ask('POST', '/api/echo/a', { raw: ' '.repeat(2_001), headers })).toMatchObject({ status: 413 });
    const announced = await sendRaw(server.port, [
      'POST /api/echo/a HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Content-Length: 1000000000000000',
    ]);
    expect(announced).toMatch(/^HTTP\/1.1 413 /);
    const endlessBody = await sendRaw(
      server.port,
      ['POST /api/echo/a HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
      `${'400\r\n'}${' '.repeat(1_024)}\r\n`.repeat(3),
    );
    expect(endlessBody).toMatch(/^HTTP\/1.1 413 /);
  });

  it('gets 100 Continue only if it is admitted', async () => {
    const server = await start();
    const head = ['POST /api/echo/a HTTP/1.1', 'Host: localhost', 'Expect: 100-continue', 'Content-Length: 2'];
    const right = await sendRaw(server.port, [...head, 'Content-Type: application/json', 'Connection: close'], '{}');
    expect(right).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 /);
    const wrong = await sendRaw(server.port, [...head, 'Content-Type: text/plain', 'Connection: close']);
    expect(wrong).toMatch(/^HTTP\/1.1 415 /);
  });

  it.each([
    ['a foreign host', { host: 'evil.example' }, 421],
    ['a host that looks like ours', { host: 'localhost.evil.example:3333' }, 421],
    ['another port of ours, as through a tunnel', { host: 'localhost:8080' }, 200],
    ['another case', { host: 'LOCALHOST' }, 200],
    ['the other loopback', { host: '[::1]:3333' }, 200],
    ['a foreign origin', { origin: 'http://evil.example' }, 403],
    ['no origin to speak of', { origin: 'null' }, 403],
    ['our own origin', { host: 'localhost:1', origin: 'http://localhost:1' }, 200],
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }, 403],
    ['the web UI', { 'sec-fetch-site': 'same-origin' }, 200],
  ])('from %s is admitted or refused', async (_what, headers, status) => {
    const server = await start();
    expect((await server.ask('POST', '/api/echo/a', { headers })).status).toBe(status);
  });

  it('with two Host headers, or a target with another host, is refused', async () => {
    const server = await start();
    const line = 'GET /healthz HTTP/1.1';
    const close = 'Connection: close';
    expect(await sendRaw(server.port, [line, 'Host: localhost', 'Host: localhost', close])).toMatch(/^HTTP\/1.1 400 /);
    const foreign = 'GET http://evil.example/healthz HTTP/1.1';
    expect(await sendRaw(server.port, [foreign, 'Host: localhost', close])).toMatch(/^HTTP\/1.1 400 /);
    const own = 'GET http://localhost/healthz HTTP/1.1';
    expect(await sendRaw(server.port, [own, 'Host: localhost', close])).toMatch(/^HTTP\/1.1 200 /);
    expect(await sendRaw(server.port, [line, close])).toMatch(/^HTTP\/1.1 400 /);
  });

  it('that is not HTTP, or has too many headers, gets an answer', async () => {
    const server = await start();
    expect(await sendRaw(server.port, ['what is this'])).toMatch(/^HTTP\/1.1 400 /);
    const head = ['GET /healthz HTTP/1.1', 'Host: localhost', `X-Long: ${'x'.repeat(17_000)}`];
    expect(await sendRaw(server.port, head)).toMatch(/^HTTP\/1.1 431 /);
  });

  it('with an unknown path or an unsupported method is refused', async () => {
    const server = await start();
    expect(await server.ask('GET', '/api/nowhere')).toMatchObject({ status: 404, json: { code: 'no-such-address' } });
    expect(await server.ask('PUT', '/api/me')).toMatchObject({ status: 405, headers: { allow: 'GET' } });
    const preflight = await server.ask('OPTIONS', '/api/me', { headers: { origin: 'http://evil.example' } });
    expect(Object.keys(preflight.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(preflight.status).toBeGreaterThanOrEqual(400);
    expect(await server.ask('POST', '/api/echo/%zz')).toMatchObject({ status: 400 });
    expect(await server.ask('HEAD', '/api/me')).toMatchObject({ status: 200, text: '' });
  });

  it('requires the role of the route', async () => {
    const server = await start();
    const refused = await server.ask('DELETE', '/api/secret');
    expect(refused).toMatchObject({ status: 403, json: { code: 'forbidden' } });
    expect(await server.ask('DELETE', '/api/secret', { over: 'socket' })).toMatchObject({ json: { role: 'admin' } });
  });

  it('that causes an internal error gets only the id under which the error is logged', async () => {
    const server = await start();
    const answer = await server.ask('GET', '/api/broken');
    expect(answer).toMatchObject({ status: 500, json: { code: 'internal' } });
    expect(answer.text).not.toContain('secret');
    expect(server.troubles).toHaveLength(1);
    const [, id] = /internal error \(id ([0-9a-f]{8})\): see the node's log/.exec(answer.text) ?? [];
    expect(server.logged).toEqual([`internal error (id ${id})`]);
  });
});

describe('a stream', () => {
  it('sends events, and ends when the server stops', async () => {
    const server = await start();
    const received = sendRaw(server.port, ['GET /api/endless HTTP/1.1', 'Host: localhost']);
    // The stop does not wait for readers.
    await server.ask('GET', '/healthz');
    await server.stop();
    expect(await received).toContain('id: 1\nevent: word\ndata: two\ndata: lines\n\n');
  });

  it('is refused to foreign pages', async () => {
    const server = await start();
    const headers = { origin: 'http://evil.example' };
    expect(await server.ask('GET', '/api/endless', { headers })).toMatchObject({ status: 403 });
  });
});

/** Sends these lines unchanged, and returns everything received until the connection ends. */
function sendRaw(port: number, lines: readonly string[], body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`));
    socket.on('data', (chunk) => {
      received += chunk.toString();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

it('a server that is stopped with open requests leaves no handle open', async () => {
  const left = await handlesLeftBy(async () => {
    const trial = await openTrial({});
    const sockets = await Promise.all(
      ['/api/events', '/api/store/events', '/api/overview'].map(async (path) => {
        const socket = connect(trial.port, '127.0.0.1');
        socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
        await once(socket, 'data');
        return socket;
      }),
    );
    await trial.stop();
    for (const socket of sockets) socket.destroy();
  });
  expect(left).toEqual([]);
});
