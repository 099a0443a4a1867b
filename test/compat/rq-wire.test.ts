/** RQ's HTTP interface and sockets answer as RQ itself answered when it was recorded (rq-recorded.ts). */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { talkOverHttp, talkOverSocket } from './rq-conversation.ts';
import { RqNode } from './rq-node.ts';
import { OVER_HTTP, OVER_SOCKET } from './rq-recorded.ts';

const rq = new RqNode();
let base = '';
beforeAll(async () => {
  base = await rq.serve();
  writeFileSync(join(rq.folder, 'abc.bin'), 'abc');
});
const host = () => ({ base, home: rq.home, file: join(rq.folder, 'abc.bin') });

test('rq wire over HTTP: every answer to a relay is RQ’s own', async () => {
  expect(await talkOverHttp(host())).toEqual(OVER_HTTP);
});

test('rq wire over sockets: every request has an answer, and it is RQ’s own', async () => {
  expect(await talkOverSocket(host())).toEqual(OVER_SOCKET);
});

type Pair = readonly [word: string, text: string];

async function ask(path: string, body: URLSearchParams | FormData): Promise<Pair> {
  return (await (await fetch(new URL(path, base), { method: 'POST', body })).json()) as Pair;
}
const commit = (address: string) => ask(address, new URLSearchParams({ _method: 'commit', x_format: 'json' }));
function attach(address: string, name: string, bytes: Buffer): Promise<Pair> {
  const form = new FormData();
  form.set('filedata', new Blob([new Uint8Array(bytes)]), name);
  form.set('x_format', 'json');
  return ask(`${address}/attach/new`, form);
}
async function prep(mesg: object): Promise<string> {
  const form = { x_format: 'json', mesg: JSON.stringify({ dest: `${base}/q/work`, ...mesg, _method: 'prep' }) };
  const [word, address] = await ask('/q/work/new_message', new URLSearchParams(form));
  expect(word).toBe('ok');
  return address;
}
const find = async (param1: string) => {
  const found = await fetch(new URL(`/search?name=work&exact=true&query[param1]=${param1}`, base));
  return (await found.json()) as readonly Readonly<Record<string, unknown>>[];
};

test('rq relay to us: a relay that begins again delivers once', async () => {
  const relayed = { param1: 'again', count: 1, orig_msg_id: 'http://far.test:3333/q/relay/20260101.0000.00.000.7' };
  const bytes = randomBytes(2_000_000);
  const receipt = ['ok', `${createHash('md5').update(bytes).digest('hex')}-Attached successfully`];
  const first = await prep(relayed);
  expect(await attach(first, 'film', bytes)).toEqual(receipt);
  // Its relay lost the id before the commit: it gets the same message.
  expect(await prep({ ...relayed, count: 2 })).toBe(first);
  expect(await attach(first, 'film', bytes)).toEqual(receipt);
  expect(await commit(first)).toEqual(['ok', 'msg commited']);
  // It lost the answer to the commit: all is answered as the first time, and nothing is delivered.
  expect(await attach(first, 'film', bytes)).toEqual(['fail', 'cannot find message']);
  const second = await prep({ ...relayed, count: 3 });
  expect(second).not.toBe(first);
  expect(await attach(second, 'film', bytes)).toEqual(receipt);
  expect(await commit(second)).toEqual(['ok', 'msg commited']);
  expect(await find('again')).toEqual([expect.objectContaining({ count: 2, msg_id: first.split('/').at(-1) })]);
});

test('rq relay to us: copies of one message, which share its orig_msg_id, all arrive', async () => {
  const copied = { param1: 'copied', orig_msg_id: 'http://far.test:3333/q/films/20260101.0000.00.000.7' };
  for (const _ of [1, 2]) expect(await commit(await prep(copied))).toEqual(['ok', 'msg commited']);
  expect(await find('copied')).toHaveLength(2);
});
