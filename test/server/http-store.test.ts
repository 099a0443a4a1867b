/** The HTTP store with a bad connection: the errors of calls with an unknown outcome, and recovery. */
import { createServer, type Server, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { track } from '../../src/core/job/tracked-jobs.ts';
import type { StoreEvent } from '../../src/core/ports/job-store.ts';
import { connect } from '../../src/library/connect.ts';
import { followTracked } from '../../src/library/follow-tracked.ts';
import { openHttpStore } from '../../src/stores/http/open-http-store.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { openTrial, startTrial } from './trial-server.ts';

const aJob = { id: 'a', queue: 'q', data: '{}' };

/** Opens a store, then replaces its server with one that answers as given. */
async function withReplacedServer(answer: (socket: Socket, received: string) => void) {
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

const replies =
  (status: string, body: string, type = 'application/problem+json') =>
  (socket: Socket) =>
    socket.end(
      `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    );
const problem = (code: string) => JSON.stringify({ code, detail: 'words', status: 400, title: '', type: '' });

describe('a call over HTTP', () => {
  it('without a server has no effect', async () => {
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
    ['closes without an answer', (socket: Socket) => socket.destroy()],
    [
      'closes in the middle of its answer',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n[{"ok"'),
    ],
    ['does not answer in time', () => undefined],
    ['is a proxy in between', replies('502 Bad Gateway', '<html>', 'text/html')],
    ['has an internal error', replies('500 Internal', problem('internal'))],
    ['lost the answer of its store', replies('504 Timeout', problem('outcome-unknown'))],
  ])('to a server that %s has an unknown outcome, unless it was a read', async (_what, answer) => {
    const store = await withReplacedServer(answer);
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
  ])('that is refused as %s ends as %s', async (received, code) => {
    const store = await withReplacedServer(replies('400 No', problem(received)));
    await expect(store.jobs.add([aJob])).rejects.toMatchObject({ code, message: 'words' });
  });
});

describe('the HTTP store', () => {
  it('receives events again after its server restarted', async () => {
    const store = openMemoryStore();
    const kept = { ...store, close: async () => undefined };
    const first = await openTrial({ store: kept });
    const client = await openHttpStore({ address: `http://127.0.0.1:${first.port}` });
    onTestFinished(() => client.close());
    const received: StoreEvent[] = [];
    client.jobs.subscribe((events) => received.push(...events));
    await client.jobs.add([{ ...aJob, id: 'first' }]);
    await expect.poll(() => received.map(({ id }) => id), { timeout: 5_000 }).toContain('first');
    await first.stop();
    await startTrial({ store: kept, port: first.port });
    let count = 0;
    const addJob = async () => {
      count += 1;
      await store.jobs.add([{ ...aJob, id: `again-${count}` }]);
      return received.some(({ id }) => id.startsWith('again'));
    };
    await expect.poll(addJob, { timeout: 10_000, interval: 100 }).toBe(true);
  });

  it('follows jobs that were tracked while its server was down', async () => {
    const kept = openMemoryStore();
    onTestFinished(() => kept.close());
    const first = await openTrial({ store: { ...kept, close: async () => undefined }, role: 'admin' });
    const store = await openHttpStore({ address: `http://127.0.0.1:${first.port}` });
    onTestFinished(() => store.close());
    await kept.jobs.add([aJob]);
    const received: string[] = [];
    onTestFinished(await followTracked(store, (events) => void received.push(...events.map(({ type }) => type))));
    await first.stop();
    await track(kept, 'a');
    await startTrial({ store: { ...kept, close: async () => undefined }, port: first.port, role: 'admin' });
    await expect.poll(() => received).toContain('gap');
    await kept.jobs.cancel([{ id: 'a' }]);
    await expect.poll(() => received).toEqual(['gap', 'cancelled']);
  });

  it('is shared over TCP, where other workers may claim a lost job, but not over the socket', async () => {
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

  it.each(['http://', 'ftp://x', 'http://u:p@h', 'http://h/?a=1'])('rejects the address %s', async (address) => {
    await expect(openHttpStore({ address })).rejects.toMatchObject({ code: 'bad-input' });
  });

  it('is opened by connect() for the address of a node', async () => {
    const { port, socket } = await startTrial();
    for (const address of [`http://127.0.0.1:${port}`, `unix:${socket}`]) {
      await using longhaul = await connect(address);
      const queue = longhaul.queue<number, number>(`q-${address.slice(0, 4)}`);
      queue.work(async (job) => job.data * 2);
      expect(await queue.run(21)).toBe(42);
    }
    const unknown = connect(`http://127.0.0.1:${port}`, { token: 'unknown' });
    await expect(unknown).rejects.toMatchObject({ code: 'store-unavailable' });
  });
});
