/** Translates RQ's socket commands to calls of its HTTP interface. */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { formWithFile } from './multipart.ts';

interface Asked {
  readonly method?: string;
  readonly type?: string;
  readonly body?: AsyncIterable<Uint8Array>;
}

const FORM = 'application/x-www-form-urlencoded';

/**
 * Sends a request to the node and returns the answer, as JSON or as text. A node that refuses a request answers before
 * it has read all of it: an answer counts even if the rest cannot be sent.
 */
async function ask(socketPath: string, path: string, { method = 'GET', type, body }: Asked = {}): Promise<unknown> {
  const headers = type === undefined ? {} : { 'content-type': type };
  const call = request({ socketPath, path, method, headers });
  const answered = new Promise<string>((resolve, reject) => {
    call.once('error', reject);
    call.once('response', (reply) => {
      void reply.toArray().then((pieces) => resolve(Buffer.concat(pieces as Buffer[]).toString('utf8')), reject);
    });
  });
  if (body === undefined) call.end();
  const [sent, reply] = await Promise.allSettled([body === undefined ? null : pipeline(body, call), answered]);
  if (reply.status === 'rejected') throw sent.status === 'rejected' ? sent.reason : reply.reason;
  try {
    return JSON.parse(reply.value);
  } catch {
    return reply.value.trim();
  }
}

function post(socket: string, path: string, fields: Readonly<Record<string, string>>): Promise<unknown> {
  return ask(socket, path, { method: 'POST', type: FORM, body: pieces(new URLSearchParams(fields).toString()) });
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** Returns the pair that RQ answers; the answer of a form is a text. */
const inPair = (word: string, answer: unknown): unknown => (Array.isArray(answer) ? answer : [word, answer]);

const QUEUE_STATES = /^(up|down|pause|resume)_queue$/;

export async function managerCommand(socket: string, name: string, text: string): Promise<unknown> {
  const about = () => ask(socket, '/q.json') as Promise<Readonly<Record<string, unknown>>>;
  const [, word] = QUEUE_STATES.exec(name) ?? [];
  if (word !== undefined) return named(text, await post(socket, `/q/${text}/adminoper`, { [word]: word }));
  switch (name) {
    case 'ping':
      return ['pong'];
    case 'environment':
    case 'version':
    case 'uptime':
      return [(await about())[name]];
    case 'queues':
      return ((await about())['queues'] as readonly { name: string }[]).map((queue) => queue.name);
    case 'restart_queue':
      return named(text, await post(socket, `/q/${text}/restart`, {}));
    case 'create_queue':
      return inPair(
        'success',
        await ask(socket, '/new_queue', { method: 'POST', type: 'application/json', body: pieces(text) }),
      );
    case 'create_queue_link':
      return inPair('success', await post(socket, '/new_queue_link', { 'queue[json_path]': text }));
    case 'delete_queue':
      return inPair('ok', await post(socket, '/delete_queue', { queue_name: text }));
    default:
      return ['error'];
  }
}

/** RQ answers with the name of the queue. */
const named = (queue: string, answer: unknown): unknown =>
  Array.isArray(answer) ? ['fail', 'invalid queue name'] : ['ok', queue];

interface Named {
  readonly msg_id?: string;
  readonly pathname?: string;
  readonly name?: string;
  readonly attachment_name?: string;
  readonly state?: string;
  readonly limit?: number;
}

const ACTS: Readonly<Record<string, string>> = {
  commit_message: 'commit',
  delete_message: 'delete',
  destroy_message: 'destroy',
};
const MAKES: Readonly<Record<string, string>> = {
  create_message: 'commit',
  prep_message: 'prep',
  single_que: 'single_que',
};
/** Commands about one message. */
const NAMING = new Set([
  ...Object.keys(ACTS),
  'attach_message',
  'delete_attach_message',
  'run_message',
  'clone_message',
  'get_message',
  'get_message_state',
  'get_message_status',
]);
const JSON_REPLY = { x_format: 'json' };

export async function queueCommand(
  socket: string,
  queue: string,
  { name, text }: { name: string; text: string },
): Promise<unknown> {
  const given = argumentOf(text);
  if (MAKES[name] !== undefined) {
    if (given === null) return ['fail', 'the argument must be a JSON object'];
    const mesg = JSON.stringify({ ...given, _method: MAKES[name] });
    return post(socket, `/q/${queue}/new_message`, { ...JSON_REPLY, mesg });
  }
  if (!NAMING.has(name)) return readQueue(socket, { queue, name, given: given ?? {} });
  const id = typeof given?.msg_id === 'string' ? shortId(given.msg_id) : '';
  if (id === '') return ['fail', "lacking 'msg_id' field"];
  return messageCommand(socket, name, { ...given, path: `/q/${queue}/${encodeURIComponent(id)}` });
}

function argumentOf(text: string): Named | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

interface OfMessage extends Named {
  /** Its address on the node. */
  readonly path: string;
}

async function messageCommand(socket: string, name: string, given: OfMessage): Promise<unknown> {
  const { path } = given;
  const act = ACTS[name];
  if (act !== undefined) return post(socket, path, { ...JSON_REPLY, _method: act });
  switch (name) {
    case 'attach_message':
      return attach(socket, given);
    case 'delete_attach_message': {
      const file = encodeURIComponent(given.attachment_name ?? '') || '.none';
      return post(socket, `${path}/attach/${file}`, { ...JSON_REPLY, _method: 'delete' });
    }
    case 'clone_message':
      return orNotFound(await post(socket, `${path}/clone`, JSON_REPLY));
    case 'run_message':
      return runMessage(socket, path);
    default:
      return readMessage(socket, name, path);
  }
}

async function runMessage(socket: string, path: string): Promise<unknown> {
  const message = await ask(socket, `${path}.json`);
  const state = Array.isArray(message) ? null : (message as { state: string }).state;
  if (state === 'run') return ['fail', 'msg already running'];
  if (state !== 'que') return ['fail', 'msg not in runnable state'];
  return post(socket, path, { ...JSON_REPLY, _method: 'run_now' });
}

async function readMessage(socket: string, name: string, path: string): Promise<unknown> {
  const answer = await ask(socket, `${path}.json`);
  if (Array.isArray(answer)) return orNotFound(answer);
  const message = answer as Readonly<Record<string, unknown>>;
  const { path: place, status, state } = message;
  if (name === 'get_message_state') return ['ok', state];
  return ['ok', name === 'get_message' ? message : { path: place, status, state }];
}

/** A message that is not in this queue. */
const orNotFound = (answer: unknown): unknown =>
  Array.isArray(answer) && String(answer[1]).startsWith('cannot find message') ? ['fail', 'msg not found'] : answer;

interface QueueRead {
  readonly queue: string;
  readonly name: string;
  readonly given: Named;
}

async function readQueue(socket: string, { queue, name, given }: QueueRead): Promise<unknown> {
  const about = async () => (await ask(socket, `/q/${queue}.json`)) as Readonly<Record<string, unknown>>;
  switch (name) {
    case 'ping':
      return ['pong'];
    case 'uptime':
      return [(await about())['uptime']];
    case 'status':
      return [(await about())['status']];
    case 'config':
      return ['ok', await ask(socket, `/q/${queue}/config.json`)];
    case 'shutdown':
      await post(socket, `/q/${queue}/restart`, {});
      return ['ok'];
    case 'num_messages':
      return sizesOf(await about());
    case 'messages':
      return messagesOf(await about(), given);
    default:
      return ['ERROR'];
  }
}

function sizesOf(queue: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sizes = Object.entries(queue).filter(([name]) => name.endsWith('_size'));
  return Object.fromEntries(sizes.map(([name, size]) => [name.replace('_size', ''), size]));
}

function messagesOf(queue: Readonly<Record<string, unknown>>, { state = '', limit }: Named): unknown {
  const lists = queue['messages'] as Readonly<Record<string, readonly unknown[]>> | undefined;
  const found = lists?.[state];
  return found?.slice(0, limit) ?? ['fail', `invalid or missing 'state' field (${state})`];
}

/** The file is read here and sent: it need not be on the same file system. */
async function attach(socket: string, { path, pathname = '', name }: OfMessage): Promise<unknown> {
  const problem = await problemOf(pathname);
  const state = await ask(socket, `${path}/state.json`);
  if (!Array.isArray(state) || state[0] !== 'prep') return ['fail', 'cannot find message'];
  if (problem !== null) return ['fail', problem];
  const { type, body } = formWithFile(pathname, name ?? basename(pathname));
  return ask(socket, `${path}/attach/new`, { method: 'POST', type, body });
}

/** Returns why a path cannot be attached, in RQ's words. */
async function problemOf(path: string): Promise<string | null> {
  if (!path.startsWith('/')) return `Invalid pathname, must be normalized ${path} (ie. must start with /`;
  const found = await stat(path).catch(() => null);
  if (found === null) return `No such file ${path} to attach to message`;
  if (found.isDirectory()) return `Attachment currently cannot be a directory ${path}`;
  const isReadable = await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (!isReadable) return `Attachment currently cannot be read: ${path}`;
  return found.isFile() ? null : `Attachment currently not of supported type: ${path}`;
}

const shortId = (id: string): string => id.trim().replace(/^.*\/q\/[^/]+\//, '');
