/**
 * Destinations that are wrong, closed, or misbehave: the job stays with its reason, and is retried or ends as its
 * settings say.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform } from 'node:stream';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { checkDestination } from '../../src/core/job/relay-request.ts';
import type { TrialNode } from './relay-bench.ts';
import { aFile, ended, filesOf, hasFailed, hashesOf, jobsIn, relay, startNode, until } from './relay-bench.ts';

let a: TrialNode;
let b: TrialNode;
let number = 0;

beforeAll(async () => {
  [a, b] = [await startNode({ relay: { timeout: '3s' } }), await startNode()];
  await b.knows('mail');
});

/** Sends a job, and returns the failure of its first try. */
async function firstFailure(to: string, more: object = {}) {
  number += 1;
  const id = `job-${number}`;
  await relay(a, { id, to, ...more });
  const job = await until(a, id, hasFailed);
  return { id, job, group: job.failure?.group, message: job.failure?.message };
}

async function aServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void (server.closeAllConnections(), server.close()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const HELLO = JSON.stringify({ protocol: 1, version: '0', store: 'x' });
const problem = (status: number, detail: string): [number, string] => [status, JSON.stringify({ detail, status })];

it.each([
  'http://',
  'http://host:3333',
  'http://host/q/',
  'http://host/q/a b',
  'https://host/queue/x',
  'http://host/q/x?y=1',
])('%s is refused at once, with a message', async (address) => {
  expect(() => checkDestination(address)).toThrow('must be an address such as http://host:3333/q/queue');
  const { status, json } = await a.ask('POST', '/api/jobs', { queue: address });
  expect(status).toBe(400);
  expect(json).toMatchObject({ code: 'bad-input', problems: [{ path: 'queue' }] });
});

it('data without an address or destination fail at once', async () => {
  for (const [id, data] of Object.entries({
    none: '{}',
    queue: '{"to":"mail","data":1}',
    ftp: '{"dest":"ftp://x/q/y"}',
  }))
    await a.store.jobs.add([{ id, queue: 'relay', data }]);
  for (const id of ['none', 'queue', 'ftp'])
    expect(await until(a, id, ended)).toMatchObject({ state: 'failed', failure: { group: 'relay: no-destination' } });
  await a.store.jobs.add([{ id: 'bad', queue: 'relay', data: '{"to":"http://host/x","data":1}' }]);
  expect(await until(a, 'bad', ended)).toMatchObject({ state: 'failed', failure: { group: 'relay: bad-address' } });
});

it('a private address is called only after it is allowed', async () => {
  const closed = await startNode({ allowDestinations: [] });
  for (const host of ['127.0.0.1', 'localhost']) {
    await relay(closed, { id: host, to: `http://${host}:${b.port}/q/mail` });
    const job = await until(closed, host, hasFailed);
    expect(job).toMatchObject({ state: 'waiting', failure: { group: 'relay: not-allowed' } });
    expect(job.failure?.message).toContain('"allowDestinations" in node.json does not list');
  }
  closed.change({ allowDestinations: [`127.0.0.1:${b.port}`] });
  expect(await until(closed, '127.0.0.1', ended)).toMatchObject({ state: 'done' });
  expect(await until(closed, 'localhost', ended)).toMatchObject({ state: 'done' });
});

it('a redirect is not followed', async () => {
  const base = await aServer((_, response) => response.writeHead(307, { location: b.base }).end());
  expect(await firstFailure(`${base}q/mail`)).toMatchObject({ group: 'relay: redirected', job: { endedAt: null } });
});

it('an endless answer is not read to its end', async () => {
  const base = await aServer((_, response) => {
    const more = (): void =>
      void (response.write(Buffer.alloc(64 * 1024)) && !response.destroyed && setImmediate(more));
    response.on('drain', more);
    more();
  });
  expect(await firstFailure(`${base}q/mail`)).toMatchObject({ group: 'relay: too-large' });
});

it('a destination that stops in the middle, or never answers, is retried', async () => {
  const half = await aServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half');
    setImmediate(() => response.destroy());
  });
  expect(await firstFailure(`${half}q/mail`)).toMatchObject({ group: 'relay: cut', job: { endedAt: null } });
  const silent = await aServer(() => undefined);
  expect(await firstFailure(`${silent}q/mail`)).toMatchObject({ group: 'relay: too-slow', job: { endedAt: null } });
});

it('a destination that is neither a node nor an RQ host is reported as such', async () => {
  const base = await aServer((_, response) =>
    response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>no</h1>'),
  );
  expect(await firstFailure(`${base}q/mail`)).toMatchObject({ group: 'relay: not-a-node' });
});

it('a queue that is unknown there, paused or down keeps the job here until it accepts jobs', async () => {
  const { id, message } = await firstFailure(`${b.base}q/nowhere`);
  expect(message).toContain('queue nowhere does not exist');
  await b.knows('nowhere');
  expect(await until(a, id, ended)).toMatchObject({ state: 'done' });
  for (const state of ['paused', 'down'] as const) {
    await b.settings.change('mail', { state });
    const closed = await firstFailure(`${b.base}q/mail`);
    expect(closed).toMatchObject({ group: 'relay: queue-closed', job: { endedAt: null } });
    expect(closed.message).toContain(`queue mail is ${state} and accepts no relayed jobs`);
    await b.settings.change('mail', { state: 'up' });
    expect(await until(a, closed.id, ended)).toMatchObject({ state: 'done' });
  }
});

it('no job can be relayed to the queue relay of another node', async () => {
  const { message } = await firstFailure(`${b.base}q/relay`);
  expect(message).toContain('jobs cannot be relayed to the queue relay');
});

it('a destination without space is retried', async () => {
  const base = await aServer((request, response) => {
    const [status, body] = request.method === 'GET' ? [200, HELLO] : problem(507, 'there is no space left');
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  });
  expect(await firstFailure(`${base}q/mail`)).toMatchObject({
    group: 'relay: no-space',
    message: expect.stringContaining('there is no space left'),
    job: { endedAt: null },
  });
});

it('a corrupted byte is found by the hash, and the file is sent again', async () => {
  let isBroken = false;
  const base = await aServer((request, response) => {
    const { method, url: path, headers } = request;
    const mustBreak = method === 'PUT' && path?.endsWith('/film') === true && !isBroken;
    const sent = ask({ port: b.port, method, path, headers: { ...headers, host: `127.0.0.1:${b.port}` } }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    if (mustBreak) isBroken = true;
    request
      .pipe(mustBreak ? flipped() : new Transform({ transform: (piece, _, next) => next(null, piece) }))
      .pipe(sent);
  });
  const files = [aFile('film', 100_000)];
  const { id, group } = await firstFailure(`${base}q/mail`, { files });
  expect(group).toBe('relay: wrong-hash');
  const job = await until(a, id, ended);
  expect(job).toMatchObject({ state: 'done' });
  expect(await filesOf(b, job.forwardedTo?.split('/').at(-1) ?? '')).toEqual(hashesOf(files));
});

it('the settings of the queue relay limit the retries', async () => {
  const c = await startNode();
  await c.settings.change('relay', { retries: 2 });
  await relay(c, { id: 'x', to: 'http://127.0.0.1:1/q/mail' });
  expect(await until(c, 'x', ended)).toMatchObject({
    state: 'failed',
    failures: 3,
    failure: { group: 'relay: unreachable' },
  });
});

it('by default it is retried without limit, with backoff, and its label says when', async () => {
  const c = await startNode();
  await c.settings.change('relay', { backoff: { kind: 'exponential', delay: '5s', max: '15m' } });
  await relay(c, { id: 'x', to: 'http://127.0.0.1:1/q/mail' });
  await until(c, 'x', hasFailed);
  const { json } = await c.ask('GET', '/api/jobs/x');
  expect(json).toMatchObject({
    label: 'retrying',
    reason: expect.stringMatching(/^after failure 1, again at \d{4}-/),
    failure: { group: 'relay: unreachable', message: 'http://127.0.0.1:1/: the connection was refused' },
  });
  expect(await c.settings.read('relay')).toMatchObject({ retries: 1_000_000, maxCrashes: 1_000_000 });
});

it('no node reported an error', async () => {
  expect([...a.troubles, ...b.troubles]).toEqual([]);
  expect((await jobsIn(b, 'relay')).length).toBe(0);
});

function flipped(): Transform {
  let isFirst = true;
  return new Transform({
    transform(piece: Buffer, _, next) {
      if (isFirst) piece[0] = (piece[0] ?? 0) ^ 1;
      isFirst = false;
      next(null, piece);
    },
  });
}
