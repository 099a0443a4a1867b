/** Calls to real servers that misbehave. */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcp } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { handlesLeftBy } from '../../test/support/open-handles.ts';
import { destinationsOf } from './destinations.ts';
import type { Outbound } from './outbound.ts';
import { openOutbound } from './outbound.ts';
import type { OutboundCall } from './outbound-call.ts';
import { createPacer } from './pacer.ts';

const HERE = ['127.0.0.1'];
const QUICK = { connectMs: 500, idleMs: 300, answerMs: 300 };
const undo: (() => void)[] = [];

afterEach(() => {
  for (const each of undo.splice(0)) each();
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<URL> {
  const server: Server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => void (server.closeAllConnections(), server.close()));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

function connect(allow: readonly string[] = HERE): Outbound {
  const outbound = openOutbound(() => destinationsOf(allow));
  undo.push(() => outbound.close());
  return outbound;
}

const get = (url: URL, more: Partial<OutboundCall> = {}): OutboundCall => ({
  method: 'GET',
  url,
  times: QUICK,
  ...more,
});

describe('a call', () => {
  it('returns the answer', async () => {
    const url = await serve((request, response) =>
      response.end(`${request.method} ${String(request.headers['x-one'])}`),
    );
    const answer = await connect().call(get(url, { headers: { 'x-one': '1' } }));
    expect(answer.ok && answer.body.toString()).toBe('GET 1');
  });

  it('does not follow a redirect', async () => {
    let asked = 0;
    const url = await serve((_, response) => {
      asked += 1;
      response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    });
    expect(await connect().call(get(url))).toMatchObject({ ok: false, problem: { code: 'redirected' } });
    expect(asked).toBe(1);
  });

  it('stops reading an answer that exceeds the limit', async () => {
    let isGone = false;
    const url = await serve((_, response) => {
      const piece = Buffer.alloc(64 * 1024);
      const more = (): void => void (!isGone && response.write(piece) ? setImmediate(more) : 0);
      response.on('drain', more);
      response.on('close', () => (isGone = true));
      more();
    });
    const answer = await connect().call(get(url, { times: { answerMs: 20_000 } }));
    expect(answer).toMatchObject({ ok: false, problem: { code: 'too-large' } });
    await expect.poll(() => isGone).toBe(true);
  });

  it('does not decompress an answer', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('not unpacked'),
    );
    const answer = await connect().call(get(url));
    expect(answer.ok && answer.body.toString()).toBe('not unpacked');
  });

  it.each([
    ['sends nothing', () => undefined],
    ['never ends', (response: ServerResponse) => void response.write('a')],
    ['drips', (response: ServerResponse) => undo.push(clearEvery(setInterval(() => response.write('a'), 20)))],
  ])('gives up on a server that %s', async (_, answer) => {
    const url = await serve((_request, response) => void answer(response));
    expect(await connect().call(get(url))).toMatchObject({ ok: false, problem: { code: 'too-slow' } });
  });

  it('gives up on a server that does not read the request', async () => {
    const tcp = createTcp((socket) => void socket.pause().on('error', () => undefined)).listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    undo.push(() => void tcp.close());
    const url = new URL(`http://127.0.0.1:${(tcp.address() as AddressInfo).port}/`);
    const body = { length: 1e9, open: async () => Readable.from(endless(), { objectMode: false }), pacer: null };
    expect(await connect().call({ method: 'PUT', url, body, times: QUICK })).toMatchObject({
      ok: false,
      problem: { code: 'too-slow' },
    });
  });

  it('reports a connection that was cut or refused, and a host that does not exist', async () => {
    const url = await serve((request) => request.socket.destroy());
    expect(await connect().call(get(url))).toMatchObject({ ok: false, problem: { code: 'cut' } });
    expect(await connect().call(get(new URL('http://127.0.0.1:1/')))).toMatchObject({
      ok: false,
      problem: { code: 'unreachable', message: 'the connection was refused' },
    });
    expect(
      await connect().call(get(new URL('http://no-such-host.invalid/'), { times: { connectMs: 20_000 } })),
    ).toMatchObject({
      ok: false,
      problem: { code: 'unreachable' },
    });
  });

  it('ends when its signal is aborted', async () => {
    const url = await serve(() => undefined);
    const stop = new AbortController();
    const call = connect().call(get(url, { signal: stop.signal, times: { answerMs: 20_000 } }));
    stop.abort();
    expect(await call).toMatchObject({ ok: false, problem: { code: 'stopped' } });
  });

  it('receives a refusal that arrives before the whole body was sent', async () => {
    const url = await serve((request, response) => {
      response.writeHead(413, { connection: 'close' }).end('too much');
      request.resume();
    });
    const body = { length: 4_000_000, open: async () => Readable.from([Buffer.alloc(4_000_000)]), pacer: null };
    expect(await connect().call({ method: 'PUT', url, body })).toMatchObject({ ok: true, status: 413 });
  });
});

describe('the guard', () => {
  it('refuses a private address that is not allowed, in every notation, without a request', async () => {
    let asked = 0;
    const url = await serve((_, response) => void ((asked += 1), response.end()));
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST.', '2130706433', '0x7f.1']) {
      const answer = await connect([]).call(get(new URL(`http://${host}:${url.port}/`)));
      // Some resolvers do not resolve a name with a trailing dot.
      expect(answer).toMatchObject({
        ok: false,
        problem: { code: expect.stringMatching(/^(not-allowed|unreachable)$/) },
      });
    }
    expect(asked).toBe(0);
  });

  it('checks the address of a name at connect time, with the settings of that moment', async () => {
    const url = await serve((_, response) => response.end('in'));
    let allow: readonly string[] = [];
    const outbound = openOutbound(() => destinationsOf(allow));
    undo.push(() => outbound.close());
    const named = new URL(`http://localhost:${url.port}/`);
    expect(await outbound.call(get(named))).toMatchObject({ problem: { code: 'not-allowed' } });
    allow = [`127.0.0.1:${url.port}`];
    expect(await outbound.call(get(named))).toMatchObject({ ok: true });
    allow = ['10.0.0.0/8'];
    const again = openOutbound(() => destinationsOf(allow));
    undo.push(() => again.close());
    expect(await again.call(get(named))).toMatchObject({ problem: { code: 'not-allowed' } });
  });

  it('connects to any address of a name that is listed', async () => {
    const url = await serve((_, response) => response.end('in'));
    expect(await connect(['localhost']).call(get(new URL(`http://localhost:${url.port}/`)))).toMatchObject({
      ok: true,
    });
  });
});

it('a pacer limits the rate of a stream', async () => {
  const bytes = 200_000;
  const url = await serve((request, response) => void request.resume().on('end', () => response.end('all')));
  const startedAt = performance.now();
  const body = { length: bytes, open: async () => Readable.from([Buffer.alloc(bytes)]), pacer: createPacer(500_000) };
  expect(await connect().call({ method: 'PUT', url, body })).toMatchObject({ ok: true, status: 200 });
  expect(performance.now() - startedAt).toBeGreaterThan(150);
});

const clearEvery = (timer: NodeJS.Timeout) => (): void => clearInterval(timer);

async function* endless(): AsyncGenerator<Buffer> {
  const piece = Buffer.alloc(256 * 1024);
  for (;;) yield piece;
}

it('a call that is stopped while it sends leaves no timer behind', async () => {
  const left = await handlesLeftBy(async () => {
    const server = createServer((request) => void request.pause()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const outbound = openOutbound(() => destinationsOf(HERE));
    const stop = new AbortController();
    const open = async () =>
      Readable.from(
        endlessly(() => stop.abort()),
        { objectMode: false },
      );
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const body = { length: 1024 ** 3, pacer: null, open };
    const times = { connectMs: 60_000, idleMs: 60_000, answerMs: 60_000 };
    const answer = await outbound.call({ method: 'PUT', url, body, times, signal: stop.signal });
    expect(answer).toMatchObject({ ok: false, problem: { code: 'stopped' } });
    outbound.close();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  expect(left).toEqual([]);
});

/** Yields chunks endlessly; calls `onSome` after eight of them. */
async function* endlessly(onSome: () => void): AsyncGenerator<Buffer> {
  for (let pieces = 1; ; pieces += 1) {
    if (pieces === 8) onSome();
    yield Buffer.alloc(64 * 1024);
  }
}
