/** RQ's HTTP interface at its addresses, each named after it, against a real node with real scripts. */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../../src/testing/index.ts';
import { testSize } from '../support/test-size.ts';
import { RqNode } from './rq-node.ts';

const rq = new RqNode();
const { folder } = rq;
let base = '';
beforeAll(async () => {
  base = await rq.serve();
});
const script = (path: string, text: string): string => rq.script(path, text);

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
  readonly headers: Headers;
}

async function ask(path: string, init: RequestInit = {}): Promise<Answer> {
  const reply = await fetch(new URL(path, base), { redirect: 'manual', ...init });
  const text = await reply.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: reply.status, text, json, headers: reply.headers };
}
const post = (path: string, fields: Record<string, string>): Promise<Answer> =>
  ask(path, { method: 'POST', body: new URLSearchParams(fields) });
/** Makes a message by RQ's form, and answers the path of its address. */
async function send(mesg: Record<string, unknown>): Promise<string> {
  const { json } = await post('/q/work/new_message', { mesg: JSON.stringify({ dest: 'work', ...mesg }) });
  const [word, id] = json as [string, string];
  expect(word).toBe('ok');
  return new URL(id).pathname;
}
const stateOf = async (path: string): Promise<string | undefined> =>
  ((await ask(`${path}/state.json`)).json as string[])[0];
const until = (path: string, state: string) =>
  waitFor(`${path} ${state}`, async () => (await stateOf(path)) === state, { deadlineMs: 20_000 });
const pause = (word: string) => post('/q/work/adminoper', { [word]: word });

test('rq POST new_message: a form with JSON, JSON itself, and the fields of a page', async () => {
  const first = await send({ param1: 'a' });
  await until(first, 'done');
  const asJson = await ask('/q/work/new_message', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ dest: 'work', param1: 'b' }),
  });
  expect(asJson.json).toEqual(['ok', expect.stringContaining('/q/work/')]);
  const page = await post('/q/work/new_message', { x_format: 'html', 'mesg[dest]': 'work', 'mesg[param1]': 'c' });
  expect([page.status, page.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/q\/work\//)]);
  expect((await ask(`${page.headers.get('location')}.json`)).json).toMatchObject({ param1: 'c' });
});

test('rq POST new_message: refuses with words and codes', async () => {
  expect(await post('/q/work/new_message', { mesg: '{"dest":""}' })).toMatchObject({
    status: 400,
    json: ['fail', expect.stringContaining('dest')],
  });
  expect(await post('/q/work/new_message', { mesg: 'x' })).toMatchObject({
    status: 400,
    json: ['fail', expect.stringContaining('JSON object')],
  });
  expect(await post('/q/no_such/new_message', { mesg: '{"dest":"no_such"}' })).toMatchObject({ status: 404 });
  const wrong = await post('/q/work/new_message', { mesg: '{"dest":"work","_method":"explode"}' });
  expect(wrong).toMatchObject({ status: 400, json: ['fail', 'Invalid method param'] });
  await pause('down');
  expect(await post('/q/work/new_message', { mesg: '{"dest":"work"}' })).toMatchObject({
    status: 503,
    json: ['fail', expect.stringContaining('down')],
  });
  await pause('up');
});

test('rq GET message .json, state.json: the record in RQ’s names', async () => {
  const path = await send({ param1: 'look', src: 'me', max_count: 3, post_run_webhook: 'http://example.test/' });
  await until(path, 'done');
  expect((await ask(`${path}.json`)).json).toMatchObject({
    msg_id: path.split('/').at(-1),
    dest: 'work',
    src: 'me',
    param1: 'look',
    count: 0,
    max_count: 3,
    state: 'done',
    status: 'done - all of it',
    post_run_webhook: ['http://example.test/'],
    path: `jobs/${path.split('/').at(-1)}`,
    orig_msg_id: `${base}${path}`,
  });
  expect((await ask(`${path}/state.json`)).json).toEqual(['done']);
  expect((await ask('/q/work/no-such/state.json')).status).toBe(404);
  const bad = await send({ param1: 'bad' });
  await until(bad, 'err');
  expect((await ask(`${bad}.json`)).json).toMatchObject({ status: 'err - by design' });
});

test('rq post_run_webhook: called on the end of a message, in RQ’s shape', async () => {
  const calls: { type: string | undefined; form: URLSearchParams }[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      calls.push({ type: request.headers['content-type'], form: new URLSearchParams(body) });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void receiver.close());
  const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/after`;
  const ends = [
    { path: await send({ param1: 'told', post_run_webhook: hook }), state: 'done', status: 'done - all of it' },
    { path: await send({ param1: 'bad', post_run_webhook: [hook] }), state: 'err', status: 'err - by design' },
  ];
  await waitFor('both calls', () => calls.length >= 2 || undefined, { deadlineMs: 25_000 });
  const payloads = calls.map(({ form }) => JSON.parse(form.get('payload') ?? '') as Record<string, unknown>);
  for (const { path, state, status } of ends)
    expect(payloads.find(({ msg_id }) => String(msg_id).endsWith(path))).toMatchObject({ state, status, dest: 'work' });
  for (const { type, form } of calls) {
    expect(type).toBe('application/x-www-form-urlencoded');
    expect(form.get('x_format')).toBe('json');
  }
  const wrong = async (address: unknown) =>
    post('/q/work/new_message', { mesg: JSON.stringify({ dest: 'work', post_run_webhook: address }) });
  expect(await wrong('no address')).toMatchObject({ status: 400, json: ['fail', expect.stringContaining('address')] });
  expect(await wrong('http://10.0.0.1/')).toMatchObject({
    status: 400,
    json: ['fail', expect.stringContaining('private address')],
  });
});

test('rq new_message prep, attach/new, commit: two phases, the MD5 as the receipt', async () => {
  const path = await send({ param1: 'files', _method: 'prep' });
  expect(await stateOf(path)).toBe('prep');
  const bytes = randomBytes(300_000);
  const form = new FormData();
  form.set('x_format', 'json');
  form.set('filedata', new Blob([bytes]), 'some file.bin');
  const md5 = createHash('md5').update(bytes).digest('hex');
  const attached = await ask(`${path}/attach/new`, { method: 'POST', body: form });
  expect(attached).toMatchObject({ status: 200, json: ['ok', `${md5}-Attached successfully`] });
  expect((await ask(`${path}.json`)).json).toMatchObject({
    _attachments: {
      'some file.bin': { md5, size: bytes.length, path: expect.stringMatching(/^\/.*\/blobs\//) },
    },
  });
  const empty = new FormData();
  empty.set('x_format', 'json');
  expect(await ask(`${path}/attach/new`, { method: 'POST', body: empty })).toMatchObject({
    status: 404,
    json: ['fail', 'missing filedata'],
  });
  expect((await post(path, { _method: 'commit', x_format: 'json' })).json).toEqual(['ok', 'msg commited']);
  await until(path, 'done');
  const late = new FormData();
  late.set('filedata', new Blob(['x']), 'late.txt');
  expect((await ask(`${path}/attach/new`, { method: 'POST', body: late })).json).toEqual(['fail', expect.any(String)]);
  const whole = await fetch(new URL(`${path}/attach/some%20file.bin`, base));
  expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
  const part = await fetch(new URL(`${path}/attach/some%20file.bin`, base), { headers: { range: 'bytes=10-19' } });
  expect([part.status, Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(10, 20))]).toEqual([206, true]);
});

test('rq POST attach/:file delete: only while it is prepared', async () => {
  const path = await send({ _method: 'prep' });
  const form = new FormData();
  form.set('filedata', new Blob(['x']), 'x.txt');
  await ask(`${path}/attach/new`, { method: 'POST', body: form });
  const remove = async () => (await post(`${path}/attach/x.txt`, { _method: 'delete', x_format: 'json' })).json;
  expect(await remove()).toEqual(['ok', 'Attachment deleted successfully']);
  expect(await remove()).toEqual([false, 'No attach directory for msg']);
  expect((await post(path, { _method: 'delete', x_format: 'json' })).json).toEqual(['ok', 'msg deleted']);
});

test('rq new_message single_que: returns the id of a message that already waits', async () => {
  await pause('pause');
  const one = await send({ param1: '1', _method: 'single_que' });
  expect(await send({ param1: '2', _method: 'single_que' })).toBe(one);
  await pause('resume');
  await until(one, 'done');
  expect(await send({ param1: '3', _method: 'single_que' })).not.toBe(one);
});

test('rq POST message delete: what is done is gone, and not only said to be', async () => {
  const path = await send({});
  await until(path, 'done');
  expect((await post(path, { _method: 'delete', x_format: 'json' })).json).toEqual(['ok', 'msg deleted']);
  expect((await ask(`${path}.json`)).status).toBe(404);
  expect((await post(path, { _method: 'delete', x_format: 'json' })).json).toEqual(['fail', 'msg not found']);
  expect((await post(await send({}), { _method: 'shout' })).status).toBe(400);
});

test('rq POST message destroy: a running script ends with its children', async () => {
  const path = await send({ param1: 'slow' });
  await until(path, 'run');
  await waitFor(
    'its words',
    async () => ((await ask(`${path}.json`)).json as { status: string }).status === 'run - half of it',
    {
      deadlineMs: 20_000,
    },
  );
  expect((await post(path, { _method: 'destroy', x_format: 'json' })).json).toEqual(['ok', 'msg destroyed']);
  await until(path, 'err');
});

test('rq POST message run_now: due before the others', async () => {
  await pause('pause');
  const due = Math.floor(Date.now() / 1_000) + 3_600;
  const later = await send({ due, param1: 'later' });
  const other = await send({ param1: 'other' });
  expect((await ask(`${later}.json`)).json).toMatchObject({ due, state: 'que' });
  expect((await post(`${later}/run_now`, { x_format: 'json' })).json).toEqual(['ok', 'msg sent to front of run queue']);
  const { due: now } = (await ask(`${later}.json`)).json as { due: number };
  // In whole seconds, in which both may be.
  expect(now).toBeLessThanOrEqual(((await ask(`${other}.json`)).json as { due: number }).due);
  await pause('resume');
  await until(later, 'done');
  await until(other, 'done');
  const waits = await send({ due });
  expect((await post(waits, { _method: 'run_now', x_format: 'json' })).json).toEqual([
    'ok',
    'msg sent to front of run queue',
  ]);
  await until(waits, 'done');
});

test('rq POST message clone: of what has ended, with its attachments', async () => {
  const path = await send({ param1: 'once', _method: 'prep' });
  const form = new FormData();
  form.set('filedata', new Blob(['kept']), 'kept.txt');
  await ask(`${path}/attach/new`, { method: 'POST', body: form });
  expect((await post(`${path}/clone`, {})).json).toEqual(['fail', 'cannot clone message in prep state']);
  await post(path, { _method: 'commit', x_format: 'json' });
  await until(path, 'done');
  const [word, id] = (await post(`${path}/clone`, { x_format: 'json' })).json as [string, string];
  expect(word).toBe('ok');
  const copy = new URL(id).pathname;
  await until(copy, 'done');
  expect((await ask(`${copy}.json`)).json).toMatchObject({
    param1: 'once',
    count: 0,
    cloned_from: expect.stringContaining(path),
    _attachments: { 'kept.txt': { size: 4 } },
  });
});

test('rq GET log/stdio.log, tailviewlog: what the script wrote, with Range', async () => {
  const path = await send({ param1: 'world' });
  await until(path, 'done');
  expect((await ask(`${path}/log/stdio.log`)).text).toContain('hello world');
  const part = await ask(`${path}/log/stdio.log`, { headers: { range: 'bytes=0-4' } });
  expect([part.status, part.text]).toEqual([206, 'hello']);
  expect((await ask(`${path}/log/other.log`)).status).toBe(404);
  const view = await ask(`${path}/tailviewlog/stdio.log`);
  expect([view.status, view.headers.get('location')]).toEqual([303, path]);
});

test('rq GET q.txt, q.json: all queues, with their counts', async () => {
  expect((await ask('/q.txt')).text.split('\n')).toContain('/q/work.txt');
  const { queues, ...rest } = (await ask('/q.json')).json as { queues: { name: string }[] };
  expect(rest).toMatchObject({
    status: 'OPERATIONAL',
    ping: 'pong',
    pid: expect.any(Number),
    uptime: expect.any(Number),
    version: expect.any(String),
    time: expect.any(Number),
  });
  expect(queues.find(({ name }) => name === 'work')).toMatchObject({
    status: 'UP',
    ping: 'pong',
    counts: { prep: expect.any(Number), que: 0, run: 0, err: expect.any(Number), done: expect.any(Number), relayed: 0 },
  });
});

test('rq GET q/name.txt, q/name.json, done.json: a queue for monitors and for machines', async () => {
  const path = await send({ param1: 'seen' });
  await until(path, 'done');
  expect((await ask('/q/work.txt')).text).toMatch(
    /^status: UP\nuptime: \d+\n\nprep: \d+\nque: 0\nrun: 0\n\ndone: \d+\nerr: \d+\nrelayed: 0\n$/,
  );
  const whole = (await ask('/q/work.json')).json as {
    messages: Record<string, { msg_id: string }[]>;
    done_size: number;
  };
  expect(whole).toMatchObject({ status: 'UP', que_size: 0, messages: { prep: expect.any(Array), que: [], run: [] } });
  expect(whole.messages['done']?.[0]).toEqual({
    msg_id: path.split('/').at(-1),
    dest: 'work',
    status: 'done - all of it',
  });
  expect(((await ask('/q/work/done.json?limit=1')).json as string[])[0]).toBe(path.split('/').at(-1));
  await pause('down');
  expect((await ask('/q/work.txt')).text).toBe('status: DOWN\n');
  expect((await ask('/q/work.json')).json).toEqual({ status: 'DOWN' });
  await pause('up');
  expect((await ask('/q/nothing.json')).status).toBe(404);
});

test('rq POST adminoper, restart: pause, resume, down, up', async () => {
  const answer = await post('/q/work/adminoper', { pause: 'pause', back: '/queues' });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/queues']);
  for (const back of ['http://evil.test/', '//evil.test/', '/\\evil.test/', '/a\r\nx: y', 'queues']) {
    const { status, headers } = await post('/q/work/adminoper', { pause: 'pause', back });
    expect([back, status, headers.get('location')]).toEqual([back, 303, '/q/work']);
  }
  expect((await ask('/q/work.txt')).text).toMatch(/^status: PAUSE\n/);
  await pause('resume');
  expect((await ask('/q/work.txt')).text).toMatch(/^status: UP\n/);
  expect((await post('/q/work/adminoper', { sing: 'sing' })).status).toBe(400);
  expect((await post('/q/work/restart', {})).status).toBe(303);
});

test('rq new_queue, config.json, delete_queue: a queue by a form, and its end', async () => {
  const path = script(join(folder, 'scripts/made'), 'echo "done made" >&3');
  const made = await post('/new_queue', {
    'queue[name]': 'made',
    'queue[script]': path,
    'queue[num_workers]': '2',
    'queue[exec_prefix]': '',
  });
  expect([made.status, made.text, made.headers.get('location')]).toEqual([
    303,
    expect.stringContaining('queue created'),
    '/q/made',
  ]);
  expect((await ask('/q/made/config.json')).json).toMatchObject({
    name: 'made',
    script: path,
    num_workers: 2,
    exec_prefix: '',
  });
  const { json } = await post('/q/made/new_message', { mesg: '{"dest":"made"}' });
  await until(new URL((json as string[])[1] ?? '').pathname, 'done');
  expect((await post('/new_queue', { 'queue[name]': 'made', 'queue[script]': path })).status).toBe(400);
  expect((await post('/new_queue', { 'queue[name]': 'a/b', 'queue[script]': path })).status).toBe(400);
  const gone = await post('/delete_queue', { queue_name: 'made' });
  expect(gone.status).toBe(303);
  await waitFor('its end', async () => (await ask('/q/made.json')).status === 404);
  expect((await ask('/new_queue')).headers.get('location')).toBe('/queues');
});

test('rq new_queue_link: a queue from a config.json of RQ’s', async () => {
  const path = script(join(folder, 'scripts/linked'), 'echo "done linked" >&3');
  const config = join(folder, 'config.json');
  const together = { coalesce_params: [1], blocking_params: [2, 3] };
  writeFileSync(
    config,
    JSON.stringify({ name: 'linked', script: path, num_workers: '1', exec_prefix: '', ...together }),
  );
  const made = await post('/new_queue_link', { 'queue[json_path]': config });
  expect([made.status, made.text]).toEqual([303, expect.stringContaining('queue created')]);
  expect((await ask('/q/linked/config.json')).json).toMatchObject(together);
  expect((await post('/new_queue_link', { 'queue[json_path]': join(folder, 'nothing') })).status).toBe(404);
});

test('rq GET search: messages by any field', async () => {
  const path = await send({ param1: 'needle-1', param2: 'x' });
  await until(path, 'done');
  const found = (await ask('/search?name=work&query[param1]=needle')).json as { msg_id: string }[];
  expect(found.map(({ msg_id }) => msg_id)).toEqual([path.split('/').at(-1)]);
  expect((await ask('/search?name=work&query[param1]=needle&exact=true')).json).toEqual([]);
  const counted = async (query: string) => ((await ask(`/search?name=work&${query}`)).json as unknown[]).length;
  expect(await counted('query[param1]=needle&query[param2]=x&query[state]=done')).toBe(1);
  expect(await counted('query[param1]=needle&query[state]=err')).toBe(0);
  expect(await counted('query[no_such_field]=x')).toBe(0);
});

test('rq pages: people get the web page at RQ’s addresses', async () => {
  for (const path of ['/', '/q/work', '/q/work/some-id', '/search']) {
    const page = await ask(path);
    expect([path, page.status, page.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
  }
  expect((await ask('/')).text).toMatch(/<noscript>.*QUEUEMGR: OPERATIONAL/);
  expect((await ask('/q/work')).text).not.toContain('queue created');
  const form = await ask('/q/work/new_message');
  expect([form.status, form.text]).toEqual([200, expect.stringContaining('name="mesg[param1]"')]);
});

test('rq guards: the same as everywhere: another site’s form, an unknown host, a wrong token', async () => {
  const form = { method: 'POST', body: new URLSearchParams({ mesg: '{"dest":"work"}' }) };
  const foreign = await ask('/q/work/new_message', {
    ...form,
    headers: { origin: 'http://evil.test', 'sec-fetch-site': 'cross-site' },
  });
  expect(foreign.status).toBe(403);
  expect((await ask('/q.json', { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
});

const MB = 1024 ** 2;
const SENT = testSize({ small: 8 * MB, full: 100 * MB });

test('rq relay to us: a host of RQ prepares, attaches a large file and commits, and finds what it sent', async () => {
  const prepared = await post('/q/work/new_message', {
    mesg: JSON.stringify({
      dest: `${base}/q/work`,
      src: 'http://far.test:3333/',
      count: 1,
      max_count: 15,
      param1: 'relayed',
      orig_msg_id: 'http://far.test:3333/q/relay/20260101.0000.00.000',
      _method: 'prep',
    }),
    x_format: 'json',
  });
  const path = new URL((prepared.json as [string, string])[1]).pathname;
  const piece = randomBytes(MB);
  const hash = createHash('md5');
  const body = async function* () {
    yield Buffer.from('--cut\r\nContent-Disposition: form-data; name="x_format"\r\n\r\njson\r\n');
    yield Buffer.from('--cut\r\nContent-Disposition: form-data; name="filedata"; filename="film.mov"\r\n');
    yield Buffer.from('Content-Type: application/octet-stream\r\n\r\n');
    for (let sent = 0; sent < SENT; sent += piece.length) {
      hash.update(piece);
      yield piece;
    }
    yield Buffer.from('\r\n--cut--\r\n');
  };
  const attached = await ask(`${path}/attach/new`, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=cut' },
    body: Readable.toWeb(Readable.from(body())) as ReadableStream,
    duplex: 'half',
  } as RequestInit);
  const md5 = hash.digest('hex');
  expect(attached.json).toEqual(['ok', `${md5}-Attached successfully`]);
  expect((await post(path, { _method: 'commit', x_format: 'json' })).json).toEqual(['ok', 'msg commited']);
  await until(path, 'done');
  const kept = createHash('md5');
  const read = await fetch(new URL(`${path}/attach/film.mov`, base));
  for await (const chunk of read.body ?? []) kept.update(chunk as Uint8Array);
  expect(kept.digest('hex')).toBe(md5);
  expect((await ask(`${path}.json`)).json).toMatchObject({
    src: 'http://far.test:3333/',
    orig_msg_id: 'http://far.test:3333/q/relay/20260101.0000.00.000',
    _attachments: { 'film.mov': { md5, size: SENT } },
  });
}, 120_000);
