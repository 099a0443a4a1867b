/** The http store when the way to its server is bad: what it says of calls whose fate nobody knows, and how it comes back. */
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { followTracked, track } from '../../src/core/job/tracked-jobs.ts';
import type { StoreEvent } from '../../src/core/ports/job-store.ts';
import { connect } from '../../src/library/connect.ts';
import { openHttpStore } from '../../src/stores/http/open-http-store.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { openTrial, startTrial } from './trial-server.ts';

const aJob = { id: 'a', queue: 'q', data: '{}' };

/** A store whose server has gone, and somebody else at its place who answers as told. */
async function afterwards(answer: (socket: Socket, heard: string) => void) {
  const trial = await openTrial({});
  const store = await openHttpStore({ address: `http://127.0.0.1:${trial.port}`, callTimeoutMs: 300 });
  onTestFinished(() => store.close());
  await trial.stop();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => answer(socket, chunk.toString()));
    onTestFinished(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(trial.port, '127.0.0.1', resolve));
  onTestFinished(() => closed(server));
  return store;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

const says =
  (status: string, body: string, type = 'application/problem+json') =>
  (socket: Socket) =>
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
const problem = (code: string) => JSON.stringify({ code, detail: 'words', status: 400, title: '', type: '' });

describe('a call over http', () => {
  it('that finds nobody has done nothing', async () => {
    const trial = await openTrial({});
    const store = await openHttpStore({ address: `http://127.0.0.1:${trial.port}` });
    onTestFinished(() => store.close());
    await trial.stop();
    await expect(store.jobs.add([aJob])).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(openHttpStore({ address: `http://127.0.0.1:${trial.port}` })).rejects.toMatchObject({
      code: 'store-unavailable',
    });
    await expect(openHttpStore({ address: `unix:${trial.socket}` })).rejects.toMatchObject({
      code: 'store-unavailable',
    });
  });

  it.each([
    ['closes without a word', (socket: Socket) => socket.destroy()],
    ['breaks off in the middle', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n[{"ok"')],
    ['says nothing in time', () => undefined],
    ['is something in between', says('502 Bad Gateway', '<html>', 'text/html')],
    ['met a bug', says('500 Oh', problem('internal'))],
    ['lost the answer itself', says('504 Oh', problem('outcome-unknown'))],
  ])('to a server that %s may or may not be done, unless it was a look', async (_what, answer) => {
    const store = await afterwards(answer);
    await expect(store.jobs.add([aJob])).rejects.toMatchObject({ code: 'outcome-unknown' });
    await expect(store.jobs.find(['a'])).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(store.records.get('queue', 'q')).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  it.each([
    ['bad-input', 'bad-input'],
    ['too-large', 'bad-input'],
    ['unauthenticated', 'store-unavailable'],
    ['forbidden', 'refused'],
    ['store-full', 'store-full'],
    ['overloaded', 'store-unavailable'],
    ['too-many-requests', 'store-unavailable'],
    ['store-closed', 'store-unavailable'],
    ['no-such-address', 'store-incompatible'],
  ])('that is refused as %s ends as %s', async (said, code) => {
    const store = await afterwards(says('400 No', problem(said)));
    await expect(store.jobs.add([aJob])).rejects.toMatchObject({ code, message: 'words' });
  });
});

describe('the http store', () => {
  it('hears of events again after its server was away', async () => {
    const store = openMemoryStore();
    const kept = { ...store, close: async () => undefined };
    const first = await openTrial({ store: kept });
    const client = await openHttpStore({ address: `http://127.0.0.1:${first.port}` });
    onTestFinished(() => client.close());
    const heard: StoreEvent[] = [];
    client.jobs.subscribe((events) => heard.push(...events));
    await client.jobs.add([{ ...aJob, id: 'first' }]);
    await expect.poll(() => heard.map(({ id }) => id), { timeout: 5_000 }).toContain('first');
    await first.stop();
    await startTrial({ store: kept, port: first.port });
    let count = 0;
    const speak = async () => {
      count += 1;
      await store.jobs.add([{ ...aJob, id: `again-${count}` }]);
      return heard.some(({ id }) => id.startsWith('again'));
    };
    await expect.poll(speak, { timeout: 10_000, interval: 100 }).toBe(true);
  });

  it('follows jobs that were tracked while its server was away', async () => {
    const kept = openMemoryStore();
    onTestFinished(() => kept.close());
    const first = await openTrial({ store: { ...kept, close: async () => undefined }, role: 'admin' });
    const store = await openHttpStore({ address: `http://127.0.0.1:${first.port}` });
    onTestFinished(() => store.close());
    await kept.jobs.add([aJob]);
    const heard: string[] = [];
    onTestFinished(await followTracked(store, (events) => void heard.push(...events.map(({ type }) => type))));
    await first.stop();
    await track(kept, 'a');
    await startTrial({ store: { ...kept, close: async () => undefined }, port: first.port, role: 'admin' });
    await expect.poll(() => heard).toContain('gap');
    await kept.jobs.cancel([{ id: 'a' }]);
    await expect.poll(() => heard).toEqual(['gap', 'cancelled']);
  });

  it('is shared over TCP, where others may take a lost job, and not over the socket', async () => {
    const { port, socket } = await startTrial();
    for (const [address, isShared] of [
      [`http://localhost:${port}`, true],
      [`unix:${socket}`, false],
    ] as const) {
      const store = await openHttpStore({ address });
      expect(store.isShared).toBe(isShared);
      await store.close();
    }
  });

  it.each(['http://', 'ftp://x', 'http://u:p@h', 'http://h/?a=1'])('is not opened at %s', async (address) => {
    await expect(openHttpStore({ address })).rejects.toMatchObject({ code: 'bad-input' });
  });

  it('is what connect() opens for an address of a node', async () => {
    const { port, socket } = await startTrial();
    for (const address of [`http://127.0.0.1:${port}`, `unix:${socket}`]) {
      await using longhaul = await connect(address);
      const queue = longhaul.queue<number, number>(`q-${address.slice(0, 4)}`);
      queue.work(async (job) => job.data * 2);
      expect(await queue.run(21)).toBe(42);
    }
    const unknown = connect(`http://127.0.0.1:${port}`, { token: 'nobody' });
    await expect(unknown).rejects.toMatchObject({ code: 'store-unavailable' });
  });
});
