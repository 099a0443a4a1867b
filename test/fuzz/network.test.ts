/**
 * Fuzzing of what comes over the network: bodies and headers of HTTP requests, frames of RQ's sockets. A real server
 * answers each with a success or a named refusal; a refused request stores nothing, and an accepted one all of it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RqSockets } from '../../src/compat/rq/rq-socket.ts';
import type { SeededRandom } from '../faults/seeded-random.ts';
import type { Answer, Asked, TrialServer } from '../server/trial-server.ts';
import { startTrial } from '../server/trial-server.ts';
import { testSize } from '../support/test-size.ts';
import { fuzz, inPieces, mutateBytes, mutateText, mutateValue } from './mutate.ts';

const DEADLINE_MS = 600_000;
const ANSWER_MS = 20_000;

const JOB = {
  queue: 'mail',
  data: { to: 'ada', parts: [1, 2, { deep: 'é' }] },
  name: 'welcome',
  tags: ['urgent', 'eu'],
  priority: 3,
  delay: '10m',
  retries: 2,
  unique: 'ada',
};
const SETTINGS = { name: 'mail', retries: 3, lease: '30s', retention: { done: { for: '7d' } } };
const REQUESTS = [
  ['POST', '/api/jobs', JOB],
  ['POST', '/api/queues', SETTINGS],
  ['POST', '/api/claim', { worker: 'w', queues: ['mail'] }],
  ['POST', '/api/settle', { id: 'a', token: 1, kind: 'complete', result: 1 }],
  ['POST', '/api/store/find', { argument: ['a'] }],
] as const;
const HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'application/json; charset=utf-8',
  authorization: 'Bearer lh_0000000000000000_x',
  'idempotency-key': '"key-1"',
  accept: 'application/json, text/plain;q=0.5',
  'accept-encoding': 'gzip, br;q=0.2',
  'if-none-match': 'W/"1"',
  cookie: 'longhaul=x; a=b',
  origin: 'http://localhost:3333',
  range: 'bytes=0-5,7-',
  'last-event-id': '12-3',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

/** A client of Node sends no other characters; test/server-guard sends those. */
const sendable = (text: string): string => text.replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '').slice(0, 4_000);

function drawRequest(random: SeededRandom): readonly [method: string, path: string, Asked] {
  const [method, path, body] = random.pick(REQUESTS);
  // One in four is valid, but for its headers.
  const changed = random.between(0, 3) === 0 ? body : mutateValue(random, body);
  const isText = random.between(0, 2) === 0;
  const raw = isText ? mutateBytes(random, JSON.stringify(body)) : Buffer.from(JSON.stringify(changed) ?? 'null');
  const names = Object.keys(HEADERS).filter(() => random.between(0, 5) === 0);
  const odd = names.map((name) => [name, sendable(mutateText(random, HEADERS[name] ?? ''))]);
  const headers = { 'content-type': 'application/json', ...(Object.fromEntries(odd) as Record<string, string>) };
  return [method, path, { raw, headers, over: random.pick(['tcp', 'socket'] as const) }];
}

function checkAnswer({ status, json, text }: Answer): void {
  if (status >= 500 || status < 200) throw new Error(`status ${status}: ${text.slice(0, 300)}`);
  if (status < 400) return;
  const code = (json as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'string') throw new Error(`status ${status} without the code of an error: ${text.slice(0, 300)}`);
}

/** How many jobs the store has, and the newest of them. */
async function newestOf({ store }: TrialServer) {
  const { jobs } = await store.jobs.list({ order: 'newest', limit: 1 });
  const counts = await store.jobs.count();
  const total = counts.reduce(
    (sum, { waiting, running, done, failed, draft }) => sum + waiting + running + done + failed + draft,
    0,
  );
  return { total, newest: jobs[0] };
}

test(
  'Every HTTP body and header is accepted or refused by name; a refusal adds no job, and an added job has its data.',
  async () => {
    const server = await startTrial({ role: 'admin' });
    let added = 0;
    await fuzz('HTTP bodies and headers', testSize({ small: 400, full: 30_000 }), async (random) => {
      const [method, path, asked] = drawRequest(random);
      const before = path === '/api/jobs' ? await newestOf(server) : null;
      const answer = await server.ask(method, path, asked);
      checkAnswer(answer);
      if (before === null) return;
      const { total, newest } = await newestOf(server);
      if (answer.status >= 400) expect(total).toBe(before.total);
      if (total === before.total || newest === undefined) return;
      added += 1;
      const given = JSON.parse(String(asked.raw)) as { data?: unknown };
      expect(JSON.parse(newest.data)).toEqual(given.data ?? null);
      // A store of many thousand jobs would make each list slower.
      if (newest.state === 'waiting') await server.store.jobs.delete([newest.id]);
    });
    expect(added).toBeGreaterThan(0);
    expect(server.logged.slice(0, 3)).toEqual([]);
    expect((await server.ask('GET', '/healthz')).status).toBe(200);
  },
  DEADLINE_MS,
);

const FRAMES = [
  'create_message {"dest":"http://localhost/q/mail","param1":"a"}',
  'config',
  'messages {"state":"que","limit":10}',
  'prep_message {"dest":"mail"}',
  'get_message_status {"msg_id":"x"}',
];
const framed = (body: string): string => `rq1 ${String(Buffer.byteLength(body)).padStart(8, '0')} ${body}`;

/** Sends bytes in pieces, closes its side, and returns what came back before the end. */
function exchange(path: string, pieces: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const heard: Buffer[] = [];
    const socket = connect(path);
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no answer in ${ANSWER_MS} ms`));
    }, ANSWER_MS);
    // The server may close while the client still sends.
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => heard.push(chunk));
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(heard).toString());
    });
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
}

test(
  'Every frame on a socket of RQ gets one whole frame with JSON, though the client closes its sending side.',
  async () => {
    const server = await startTrial({ role: 'admin' });
    const root = mkdtempSync(join(tmpdir(), 'longhaul-fuzz-'));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const troubles: unknown[] = [];
    const onTrouble = (what: string, error: unknown): void => void troubles.push([what, error]);
    const sockets = new RqSockets({ root, socket: server.socket, queues: () => ['mail'], onTrouble });
    await sockets.start();
    onTestFinished(() => sockets.stop());
    const paths = [join(root, 'config/queuemgr.sock'), join(root, 'queue/mail/queue.sock')];
    await fuzz('RQ socket frames', testSize({ small: 100, full: 20_000 }), async (random) => {
      const text = framed(random.between(0, 1) === 0 ? mutateText(random, random.pick(FRAMES)) : random.pick(FRAMES));
      const bytes = random.between(0, 2) === 0 ? Buffer.from(text) : mutateBytes(random, text);
      const reply = await exchange(random.pick(paths), inPieces(random, bytes));
      const [, size = '', body = ''] = /^rq1 (\d{8}) ([\s\S]*)$/.exec(reply) ?? [];
      if (Buffer.byteLength(body) !== Number(size)) throw new Error(`the reply is no frame: ${reply.slice(0, 200)}`);
      JSON.parse(body);
    });
    expect(troubles).toEqual([]);
    expect((await server.store.jobs.count()).length).toBe(0);
  },
  DEADLINE_MS,
);
