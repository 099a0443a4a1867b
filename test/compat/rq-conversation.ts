/**
 * A conversation with an RQ host over HTTP and over its sockets, the same for RQ and for a node: a title for each
 * request, and what was answered. Ids, addresses and times are replaced, so that two conversations can be compared.
 */
import { connect } from 'node:net';
import { join } from 'node:path';
import { waitFor } from '../../src/testing/index.ts';

export interface RqHost {
  readonly base: string;
  /** Its data directory, with `queue/work/queue.sock`. */
  readonly home: string;
  /** An absolute path below its data directory of a file with the content `abc`. */
  readonly file: string;
}

/** Status and JSON body, or the path of a redirect of a form; other bodies are pages for people and not compared. */
export type Answer = readonly [status: number, body?: unknown];
export type Conversation = Readonly<Record<string, Answer>>;

type Fields = Readonly<Record<string, string>>;

class Client {
  readonly #host: RqHost;
  readonly answers: Record<string, Answer> = {};

  constructor(host: RqHost) {
    this.#host = host;
  }

  async form(title: string, path: string, fields: Fields): Promise<string> {
    return this.#say(title, path, { method: 'POST', body: new URLSearchParams(fields) });
  }

  /** Returns the path of the message's address. */
  async message(title: string, mesg: object, more: Fields = {}): Promise<string> {
    return this.form(title, '/q/work/new_message', { x_format: 'json', mesg: JSON.stringify(mesg), ...more });
  }

  act(title: string, path: string, method: string): Promise<string> {
    return this.form(title, path, { _method: method, x_format: 'json' });
  }

  attach(title: string, path: string, [name, content]: readonly [string, string]): Promise<string> {
    const body = new FormData();
    body.set('x_format', 'json');
    body.set('filedata', new Blob([content]), name);
    return this.#say(title, `${path}/attach/new`, { method: 'POST', body });
  }

  /** Sends a form of a page, without `x_format`. The answer is where it leads. */
  async page(title: string, path: string, body: URLSearchParams | FormData): Promise<void> {
    const reply = await fetch(new URL(path, this.#host.base), { method: 'POST', body, redirect: 'manual' });
    await reply.text();
    const target = new URL(reply.headers.get('location') ?? '', this.#host.base).pathname;
    this.answers[title] = [reply.status, comparable(target)];
  }

  async until(path: string, state: string): Promise<void> {
    const read = async () => (await (await fetch(new URL(`${path}/state.json`, this.#host.base))).json()) as unknown[];
    await waitFor(`${path} ${state}`, async () => (await read())[0] === state, { deadlineMs: 30_000 });
  }

  get(title: string, path: string): Promise<string> {
    return this.#say(title, path, {});
  }

  async #say(title: string, path: string, init: RequestInit): Promise<string> {
    const reply = await fetch(new URL(path, this.#host.base), { redirect: 'manual', ...init });
    const text = await reply.text();
    if (reply.status !== 200) {
      this.answers[title] = [reply.status];
      return '';
    }
    const body = JSON.parse(text) as unknown;
    this.answers[title] = [200, comparable(body)];
    return Array.isArray(body) && String(body[1]).startsWith('http') ? new URL(String(body[1])).pathname : '';
  }

  /** One request to a socket of its data directory. */
  async socket(title: string, body: string, place = 'queue/work/queue.sock'): Promise<string> {
    const socket = connect(join(this.#host.home, place));
    socket.write(`rq1 ${String(Buffer.byteLength(body)).padStart(8, '0')} ${body}`);
    const text = Buffer.concat((await socket.toArray()) as Buffer[]).toString('utf8');
    const answer = JSON.parse(text.slice('rq1 00000000 '.length)) as unknown;
    this.answers[title] = [200, comparable(answer)];
    return Array.isArray(answer) ? (String(answer[1]).split('/').at(-1) ?? '') : '';
  }
}

const FREE = new Set(['due', 'path', 'uptime', 'pid']);

/** Replaces what differs from run to run. */
function comparable(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/(?:http:\/\/[^/]+)?\/q\/work\/[^/"]+/, '<address>');
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).map(([name, each]): [string, unknown] =>
    FREE.has(name) ? [name, typeof each] : [name, name === 'msg_id' ? '<id>' : comparable(each)],
  );
  return Object.fromEntries(kept);
}

const ORIGIN = 'http://far.test:3333/q/relay/20260101.0000.00.000.1';
const UNKNOWN = '/q/work/20200101.0000.00.000.1';

/** The steps of a relay, and what goes wrong in them. */
export async function talkOverHttp(host: RqHost): Promise<Conversation> {
  const client = new Client(host);
  await client.message('_method outside of mesg', { dest: 'work' }, { _method: 'explode' });
  await client.message('_method inside mesg that RQ does not know', { dest: 'work', _method: 'explode' });
  await client.message('no dest', { param1: 'x' });
  await client.form('no such queue', '/q/nowhere/new_message', { mesg: '{"dest":"nowhere"}' });
  const relayed = { dest: 'work', src: 'me', param1: 'p', count: 4, max_count: 9, orig_msg_id: ORIGIN };
  const path = await client.message('prep', { ...relayed, _method: 'prep' });
  await client.get('state of a message in prep', `${path}/state.json`);
  await client.act('delete of a file from a message without files', `${path}/attach/.none`, 'delete');
  await client.attach('attach', path, ['a b.bin', 'abc']);
  await client.attach('attach under the same name', path, ['a b.bin', 'other']);
  await client.attach('attach of an empty file', path, ['empty', '']);
  await client.attach('attach of a hidden file', path, ['.dot', 'abc']);
  await client.attach('attach with a character that RQ forbids', path, ['a<b>', 'abc']);
  await client.attach('attach with an escape in the name', path, ['c%20d', 'abc']);
  await client.form('attach without a file', `${path}/attach/new`, { x_format: 'json' });
  await client.get('message in prep', `${path}.json`);
  await client.act('delete of a file', `${path}/attach/empty`, 'delete');
  await client.act('delete of a file that is not there', `${path}/attach/empty`, 'delete');
  await client.act('a method for a file that RQ does not know', `${path}/attach/empty`, 'explode');
  await client.act('a method for a message that RQ does not know', path, 'explode');
  await client.act('commit', path, 'commit');
  await client.act('commit of a committed message', path, 'commit');
  await client.attach('attach to a committed message', path, ['late', 'abc']);
  await client.act('delete of a file of a committed message', `${path}/attach/a%20b.bin`, 'delete');
  await client.act('commit of a message that does not exist', UNKNOWN, 'commit');
  await client.attach('attach to a message that does not exist', UNKNOWN, ['late', 'abc']);
  await client.act('delete of a file of a message that does not exist', `${UNKNOWN}/attach/.none`, 'delete');
  await client.act('delete of a message that does not exist', UNKNOWN, 'delete');
  await client.act('destroy of a message that does not exist', UNKNOWN, 'destroy');
  await client.get('state of a message that does not exist', `${UNKNOWN}/state.json`);
  await client.get('a message that does not exist', `${UNKNOWN}.json`);
  const other = await client.message('prep of another message', { dest: 'work', _method: 'prep' });
  await client.act('delete of a message in prep', other, 'delete');
  await talkByForms(client);
  return client.answers;
}

async function talkByForms(client: Client): Promise<void> {
  const method = (word: string) => new URLSearchParams({ _method: word });
  const path = await client.message('prep for a form', { dest: 'work', _method: 'prep' });
  const file = new FormData();
  file.set('filedata', new Blob(['abc']), 'abc');
  await client.page('attach by a form', `${path}/attach/new`, file);
  await client.page('delete of a file by a form', `${path}/attach/abc`, method('delete'));
  await client.page('commit by a form', path, method('commit'));
  await client.page('commit of a committed message by a form', path, method('commit'));
  await client.until(path, 'done');
  await client.page('clone by a form', `${path}/clone`, new URLSearchParams());
  const due = Math.floor(Date.now() / 1_000) + 3_600;
  const later = await client.message('a message for later', { dest: 'work', due });
  await client.page('run_now by a form', `${later}/run_now`, new URLSearchParams());
  const last = await client.message('prep for another form', { dest: 'work', _method: 'prep' });
  await client.page('destroy of a message that does not run by a form', last, method('destroy'));
  await client.page('delete by a form', last, method('delete'));
}

/** Every request over a socket has an answer. */
export async function talkOverSocket(host: RqHost): Promise<Conversation> {
  const client = new Client(host);
  const say = (title: string, argument?: object) =>
    client.socket(title, argument === undefined ? title : `${title.split(' ')[0]} ${JSON.stringify(argument)}`);
  await client.socket('manager ping', 'ping', 'config/queuemgr.sock');
  await client.socket('manager environment', 'environment', 'config/queuemgr.sock');
  await client.socket('manager dance', 'dance', 'config/queuemgr.sock');
  for (const word of ['pause', 'resume', 'down', 'up'])
    await client.socket(`manager ${word}_queue`, `${word}_queue work`, 'config/queuemgr.sock');
  await client.socket('manager pause_queue of no queue', 'pause_queue nowhere', 'config/queuemgr.sock');
  await say('ping');
  await say('status');
  await say('dance');
  await say('messages of no state', { state: 'zzz' });
  await say('create_message without dest', { param1: 'x' });
  const msg_id = await say('prep_message', { dest: 'work', param1: 'p' });
  await say('attach_message without msg_id', {});
  for (const [what, pathname] of Object.entries({
    missing: '/no/such/file',
    relative: 'here',
    directory: '/tmp',
    device: '/dev/null',
  }))
    await say(`attach_message ${what}`, { msg_id, pathname });
  await say('attach_message', { msg_id, pathname: host.file });
  await say('attach_message under a name', { msg_id, pathname: host.file, name: 'n.bin' });
  await say('attach_message under a hidden name', { msg_id, pathname: host.file, name: '.dot' });
  await say('attach_message of no message', { msg_id: 'none', pathname: host.file });
  await say('delete_attach_message', { msg_id, attachment_name: 'n.bin' });
  await say('delete_attach_message again', { msg_id, attachment_name: 'n.bin' });
  await say('delete_attach_message of no message', { msg_id: 'none', attachment_name: 'n.bin' });
  await say('get_message', { msg_id });
  await say('get_message_state', { msg_id });
  await say('get_message_status', { msg_id });
  await say('run_message in prep', { msg_id });
  await say('clone_message in prep', { msg_id });
  for (const name of ABOUT_A_MESSAGE) await say(`${name} without msg_id`, {});
  for (const name of ABOUT_A_MESSAGE) await say(`${name} of no message`, { msg_id: 'none' });
  await say('commit_message', { msg_id });
  await say('commit_message again', { msg_id });
  const due = Math.floor(Date.now() / 1_000) + 3_600;
  const single = await say('single_que', { dest: 'work', due });
  await say('single_que again', { dest: 'work', due });
  await say('run_message', { msg_id: single });
  return client.answers;
}

const ABOUT_A_MESSAGE = [
  'get_message',
  'get_message_state',
  'get_message_status',
  'commit_message',
  'delete_message',
  'destroy_message',
  'run_message',
  'clone_message',
];
