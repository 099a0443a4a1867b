/** SIGTERM ends a node within seconds, whatever requests are open, and no part of it has to be killed. */
import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cli, eventually } from '../processes/scripts-workbench.ts';
import { aBench, getOverSocket, post, urlOf } from './serve-bench.ts';

const MB = 1024 ** 2;
/** Open requests have 5 s to complete; the rest of a stop is short. */
const STOP_MS = 15_000;
const HOST = 'host: localhost';
const JSON_TYPE = 'content-type: application/json';

/** Opens a connection with these header lines of a request and some bytes of its body. */
async function say(place: { port: number } | { path: string }, lines: readonly string[], body = ''): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', ...place });
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  if (lines.length > 0) socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return socket;
}

const put = (id: string, ...more: string[]): readonly string[] => [
  `PUT /api/jobs/${id}/attachments/film HTTP/1.1`,
  HOST,
  'content-type: application/octet-stream',
  ...more,
];

test('SIGTERM ends a node within seconds under every kind of open request.', async () => {
  const bench = aBench();
  bench.queue('quiet', 'sleep 60');
  const node = await bench.serve();
  const url = await urlOf(node);
  const at = { port: Number(new URL(url).port) };
  const add = (id: string, more: object = {}) =>
    post(url, '/api/store/add', { argument: [{ id, queue: 'unserved', data: '1', ...more }] });
  for (const id of ['silent', 'superseded', 'refused']) await add(id, { draft: true });
  await add('waits');
  const bytes = 'x'.repeat(2 * MB);
  const answered: Socket[] = [
    await say(at, put('refused', 'content-length: 209715200', 'upload-offset: 7', 'upload-length: 209715207'), bytes),
    await say(at, put('waits', 'content-length: 209715200'), bytes),
    await say(at, ['GET /api/events HTTP/1.1', HOST]),
    await say(at, ['GET /api/jobs/waits/attempts/latest/log/events HTTP/1.1', HOST]),
    await say(at, ['GET /api/store/events HTTP/1.1', HOST]),
    await say(at, ['GET /api HTTP/1.1', HOST]),
  ];
  for (const socket of answered) await once(socket, 'data');
  // None of these is answered before the stop.
  await say(at, put('silent', 'content-length: 209715200'), bytes);
  await say(at, put('superseded', 'content-length: 209715200'), bytes);
  await say(at, ['POST /api/store/add HTTP/1.1', HOST, JSON_TYPE, 'content-length: 1000'], '{"argument":');
  await say(at, ['GET /api/events HTTP/1.1', HOST, 'x-unfinished: 1']).then((socket) => socket.pause());
  await say(at, []);
  await say({ path: join(bench.home, 'node.sock') }, []);
  await say({ path: join(bench.home, 'config', 'queuemgr.sock') }, []);
  await say({ path: join(bench.home, 'queue', 'quiet', 'queue.sock') }, []);
  const later = await say(at, put('superseded', 'content-length: 3'), 'abc');
  await once(later, 'data');
  const startedAt = performance.now();
  const { code } = await node.terminate();
  const stoppedMs = performance.now() - startedAt;
  process.stdout.write(
    `\nfigures: a node with ${answered.length + 9} open requests ended ${Math.round(stoppedMs)} ms after SIGTERM\n`,
  );
  expect(code).toBe(0);
  expect(stoppedMs).toBeLessThan(STOP_MS);
  expect(node.lines.filter((line) => /still open|error:/.test(line))).toEqual([]);
});

test('A node with a part that cannot start ends with the reason, and leaves nothing open.', async () => {
  const bench = aBench();
  bench.queue('quiet', 'sleep 60');
  // RQ's sockets are the last part of a start, and a file is in the place of their directory.
  writeFileSync(join(bench.home, 'queue'), '');
  const node = await bench.begin([process.execPath, cli, 'serve', '--home', bench.home]);
  const { code } = await node.ended;
  expect(code).not.toBe(0);
  expect(node.lines.filter((line) => /still open/.test(line))).toEqual([]);
});

test('Removed sockets of a node are created again, and open requests continue.', async () => {
  const bench = aBench();
  bench.queue('quiet', 'sleep 60');
  const node = await bench.serve();
  const paths = ['node.sock', 'config/queuemgr.sock', 'queue/quiet/queue.sock'].map((name) => join(bench.home, name));
  const stream = await say({ path: paths[0] ?? '' }, ['GET /api/events HTTP/1.1', HOST]);
  await once(stream, 'data');
  for (const path of paths) rmSync(path);
  for (const path of paths) await eventually(() => existsSync(path), Boolean, 10_000);
  expect(await getOverSocket(bench.home, '/readyz')).toEqual({ status: 200, text: 'ready\n' });
  expect(statSync(paths[0] ?? '').mode & 0o777).toBe(0o600);
  for (const path of paths) (await say({ path }, [])).destroy();
  expect(stream.destroyed).toBe(false);
  expect(await node.terminate()).toMatchObject({ code: 0 });
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
});
