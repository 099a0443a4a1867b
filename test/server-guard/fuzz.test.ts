/**
 * P21: no byte sequence crashes the server. Every request is answered or its connection closed, the process survives, and
 * its memory stays bounded.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Fixture } from '../support/processes.ts';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { drawFrom, drawRequest } from './hostile-requests.ts';
import type { Place } from './raw-client.ts';
import { openRaw, sayRaw } from './raw-client.ts';

const COUNT = testSize({ small: 4_000, full: 100_000 });
const AT_ONCE = 40;
const WARM_UP = 1_000;
const MEGABYTE = 1024 ** 2;
const seed = Number(process.env['LONGHAUL_SEED'] ?? Date.now() % 2 ** 31);

async function startServer() {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-fuzz-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'node.sock');
  const server = await startFixture('guard-server.mjs', ['', path]);
  onTestFinished(async () => void (await server.kill9()));
  const { port } = await server.next(({ type }) => type === 'listening');
  return { server, places: [{ port: Number(port) }, { path }] as const };
}

interface Memory {
  /** Memory in use after a collection, which shows a leak. */
  readonly used: number;
  /** Including memory that the engine retains and returns later. */
  readonly resident: number;
}

async function memoryOf(server: Fixture): Promise<Memory> {
  server.send({});
  const { rss, heap, ext } = await server.next(({ type }) => type === 'memory', 30_000);
  return { used: (Number(heap) + Number(ext)) / MEGABYTE, resident: Number(rss) / MEGABYTE };
}

/** Resolves when the server answers or closes. The client half-closes its side. */
async function shout(place: Place, bytes: Buffer): Promise<void> {
  const socket = await openRaw(place);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`seed ${seed}: no answer to ${JSON.stringify(bytes.toString('latin1'))}`)),
      30_000,
    );
    const done = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    };
    socket.once('data', done);
    socket.once('close', done);
    socket.end(bytes);
  });
}

async function shoutMany(places: readonly Place[], requests: Iterator<Buffer>): Promise<void> {
  const one = async (number: number): Promise<void> => {
    for (let next = requests.next(); next.done !== true; next = requests.next())
      await shout(places[number % places.length] as Place, next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => one(number)));
}

function* drawn(count: number, from: number): Generator<Buffer> {
  const draw = drawFrom(from);
  for (let made = 0; made < count; made += 1) yield drawRequest(draw);
}

function* truncated(): Generator<Buffer> {
  const body = '{"argument":["j"]}';
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  const whole = Buffer.from(`POST /api/store/find HTTP/1.1\r\n${head}${body}`);
  for (let length = 0; length <= whole.length; length += 1) yield whole.subarray(0, length);
}

it(`S31 ${COUNT} hostile requests over TCP and the socket are answered or closed, by the same process in bounded memory`, async () => {
  const { server, places } = await startServer();
  await shoutMany(places, truncated());
  await shoutMany(places, drawn(WARM_UP, seed));
  const before = await memoryOf(server);
  await shoutMany(places, drawn(COUNT, seed + 1));
  const after = await memoryOf(server);
  const grown = { used: after.used - before.used, resident: after.resident - before.resident };
  for (const place of places)
    expect(await sayRaw(place, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')).toMatchObject({ status: 200 });
  expect(server.messages.filter(({ type }) => type === 'trouble').slice(0, 3)).toEqual([]);
  const isBounded = grown.used < 20 && grown.resident < 100;
  expect({ seed, isBounded: isBounded || grown }).toEqual({ seed, isBounded: true });
}, 600_000);

it('S31 a request that arrives byte by byte is answered', async () => {
  const { places } = await startServer();
  const text = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  for (const place of places) {
    const socket: Socket = await openRaw(place);
    socket.setNoDelay(true);
    const heard: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => heard.push(chunk));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    for (const byte of text) await new Promise((resolve) => socket.write(byte, resolve));
    await closed;
    expect(Buffer.concat(heard).toString()).toMatch(/^HTTP\/1\.1 200 OK/);
  }
});
