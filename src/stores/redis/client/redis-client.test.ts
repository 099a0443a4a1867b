/** The client beside a real server, and beside servers that are silent, cut the connection, or are none. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ask, describeWithRedis, startRedis } from '../../../../test/support/redis-server.ts';
import { DeadlineError } from './deadline.ts';
import { settingsOf } from './options.ts';
import { ErrorReply, ProtocolError } from './protocol.ts';
import { type Client, clientsOf, NotSentError } from './redis-client.ts';

async function open(port: number, { password = '', username = '', db = 0 } = {}): Promise<Client> {
  const settings = settingsOf({ url: `redis://127.0.0.1:${port}`, connectTimeoutMs: 500 });
  const client = await clientsOf(settings)({ host: '127.0.0.1', port }, { username, password, db });
  onTestFinished(() => client.destroy());
  return client;
}

/** A server that does with each connection what the test says. */
async function serve(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    onSocket(socket);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describeWithRedis('a client of a server', () => {
  it('answers each command in its order, also those of one turn', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const client = await open(server.port);
    const answers = Promise.all([
      client.send(['SET', 'a', 'äöü']),
      client.send(['GET', 'a']),
      client.send(['LPUSH', 'a', 'x']).catch((error: unknown) => error),
      client.sendForBytes(['GET', 'a']),
      client.send(['GET', 'nothing']),
    ]);
    expect(await answers).toEqual(['OK', 'äöü', expect.any(ErrorReply), Uint8Array.from(Buffer.from('äöü')), null]);
  });

  it('sends and receives texts of megabytes', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const client = await open(server.port);
    const text = 'ü'.repeat(3_000_000);
    const [, read] = await Promise.all([client.send(['SET', 'a', text]), client.send(['GET', 'a'])]);
    expect(read === text).toBe(true);
  });

  it('logs in, and uses the database that is named', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    await ask(server.port, 'ACL SETUSER other on >secret ~* +@all');
    await expect(open(server.port, { username: 'other', password: 'wrong' })).rejects.toThrow('WRONGPASS');
    const client = await open(server.port, { username: 'other', password: 'secret', db: 3 });
    await client.send(['SET', 'a', '1']);
    const own = await open(server.port);
    expect(await own.send(['GET', 'a'])).toBeNull();
  });

  it('receives the messages of its channel, and answers commands besides', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const client = await open(server.port);
    const heard: string[] = [];
    await client.subscribe('c', (message) => heard.push(message));
    await ask(server.port, 'PUBLISH c one');
    expect(await client.send(['PING'])).toEqual(['pong', '']);
    await ask(server.port, 'PUBLISH c two');
    await expect.poll(() => heard).toEqual(['one', 'two']);
  });

  it('is lost when the server ends it: what has no answer is rejected, and nothing is sent any more', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const client = await open(server.port);
    const id = String(await client.send(['CLIENT', 'ID']));
    const lost = new Promise<void>((resolve) => client.onLost(resolve));
    const pop = client.send(['BLPOP', 'nothing', '0']).catch((error: unknown) => String(error));
    await sleep(50);
    await ask(server.port, `CLIENT KILL ID ${id}`);
    expect(await pop).toContain('the server closed the connection');
    await lost;
    await expect(client.send(['PING'])).rejects.toBeInstanceOf(NotSentError);
  });
});

describe('a client without a good server', () => {
  it('ends when the oldest command has no answer in time, with all that wait', async () => {
    const client = await open(await serve(() => undefined));
    client.limitAnswers(200);
    const lost = new Promise<void>((resolve) => client.onLost(resolve));
    const first = client.send(['PING']).catch((error: unknown) => error);
    await sleep(100);
    const startedAt = performance.now();
    await expect(client.send(['PING'])).rejects.toBeInstanceOf(DeadlineError);
    expect(performance.now() - startedAt).toBeLessThan(190);
    expect(await first).toBeInstanceOf(DeadlineError);
    await lost;
  });

  it('watches the next command when one was answered', async () => {
    let answers = 1;
    const port = await serve((socket) => socket.on('data', () => (answers-- > 0 ? socket.write('+PONG\r\n') : null)));
    const client = await open(port);
    client.limitAnswers(200);
    expect(await client.send(['PING'])).toBe('PONG');
    await sleep(150);
    const startedAt = performance.now();
    await expect(client.send(['PING'])).rejects.toThrow('no answer within 200 ms');
    expect(performance.now() - startedAt).toBeGreaterThan(180);
  });

  it('notices a server that became silent while it only waits for messages', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const client = await open(await serve(() => undefined));
    let isLost = false;
    client.onLost(() => {
      isLost = true;
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(isLost).toBe(false);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(isLost).toBe(true);
  });

  it('refuses what is no Redis server', async () => {
    const port = await serve((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const client = await open(port);
    await expect(client.send(['PING'])).rejects.toBeInstanceOf(ProtocolError);
  });

  it('does not wait for a connection for ever, nor for the answer to its login', async () => {
    const port = await serve(() => undefined);
    await expect(open(port, { password: 'secret' })).rejects.toBeInstanceOf(DeadlineError);
  });

  it('says why it cannot connect', async () => {
    await expect(open(1)).rejects.toThrow('ECONNREFUSED');
  });

  it('calls back for a connection that was lost before', async () => {
    const client = await open(await serve((socket) => socket.end()));
    await expect.poll(() => client.send(['PING']).catch((error: unknown) => error)).toBeInstanceOf(NotSentError);
    await new Promise<void>((resolve) => client.onLost(resolve));
  });

  it('takes no more commands than can wait', async () => {
    const client = await open(await serve(() => undefined));
    const waiting = Array.from({ length: 10_000 }, () => client.send(['PING']).catch((error: unknown) => error));
    await expect(client.send(['PING'])).rejects.toBeInstanceOf(NotSentError);
    client.destroy();
    expect((await Promise.all(waiting)).every((error) => error instanceof Error)).toBe(true);
  });
});
