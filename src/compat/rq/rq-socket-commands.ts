/** What RQ's socket commands are called over HTTP: names and shapes, and nothing else. */
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

/** One request to the node; its answer as JSON, or as its text. */
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
  else await pipeline(body, call).catch(() => undefined);
  const text = await answered;
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

function post(socket: string, path: string, fields: Readonly<Record<string, string>>): Promise<unknown> {
  return ask(socket, path, { method: 'POST', type: FORM, body: pieces(new URLSearchParams(fields).toString()) });
}

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** A form's answer is words; RQ's is a pair. */
const inPair = (word: string, answer: unknown): unknown => (Array.isArray(answer) ? answer : [word, answer]);

export async function managerCommand(socket: string, name: string, text: string): Promise<unknown> {
  const about = () => ask(socket, '/q.json') as Promise<Readonly<Record<string, unknown>>>;
  const [, word] = /^(up|down|pause|resume)_queue$/.exec(name) ?? [];
  if (word !== undefined) return inPair('ok', await post(socket, `/q/${text}/adminoper`, { [word]: word }));
  switch (name) {
    case 'ping':
      return ['pong'];
    case 'environment':
      return ['ok', (await about())['environment']];
    case 'version':
      return ['ok', (await about())['version']];
    case 'uptime':
      return [(await about())['uptime']];
    case 'queues':
      return ((await about())['queues'] as readonly { name: string }[]).map((queue) => queue.name);
    case 'restart_queue':
      return inPair('ok', await post(socket, `/q/${text}/restart`, {}));
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
  run_message: 'run_now',
};
const MAKES: Readonly<Record<string, string>> = {
  create_message: 'commit',
  prep_message: 'prep',
  single_que: 'single_que',
};

export async function queueCommand(
  socket: string,
  queue: string,
  { name, text }: { name: string; text: string },
): Promise<unknown> {
  const given = text.startsWith('{') ? (JSON.parse(text) as Named) : {};
  const message = `/q/${queue}/${encodeURIComponent(shortId(given.msg_id ?? text))}`;
  if (MAKES[name] !== undefined)
    return post(socket, `/q/${queue}/new_message`, { mesg: JSON.stringify({ ...given, _method: MAKES[name] }) });
  if (ACTS[name] !== undefined) return post(socket, message, { _method: ACTS[name] });
  if (name === 'clone_message') return post(socket, `${message}/clone`, {});
  if (name === 'attach_message') return attach(socket, message, given);
  if (name === 'delete_attach_message')
    return post(socket, `${message}/attach/${encodeURIComponent(given.attachment_name ?? '')}`, { _method: 'delete' });
  return look(socket, { queue, message, name, given });
}

interface Look {
  readonly queue: string;
  readonly message: string;
  readonly name: string;
  readonly given: Named;
}

async function look(socket: string, { queue, message, name, given }: Look): Promise<unknown> {
  const about = async () => (await ask(socket, `/q/${queue}.json`)) as Readonly<Record<string, unknown>>;
  switch (name) {
    case 'ping':
      return ['pong'];
    case 'uptime':
      return [(await about())['uptime']];
    case 'status':
      return [(await about())['status']];
    case 'config':
      return ask(socket, `/q/${queue}/config.json`);
    case 'shutdown':
      return inPair('ok', await post(socket, `/q/${queue}/restart`, {}));
    case 'num_messages':
      return sizesOf(await about());
    case 'messages':
      return messagesOf(await about(), given);
    case 'get_message':
      return found(await ask(socket, `${message}.json`), (whole) => whole);
    case 'get_message_state':
      return found(await ask(socket, `${message}.json`), ({ state }) => state);
    case 'get_message_status':
      return found(await ask(socket, `${message}.json`), ({ status }) => ({ status }));
    default:
      return ['ERROR'];
  }
}

function found(answer: unknown, part: (message: Readonly<Record<string, unknown>>) => unknown): unknown {
  return Array.isArray(answer) ? answer : ['ok', part(answer as Readonly<Record<string, unknown>>)];
}

function sizesOf(queue: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sizes = Object.entries(queue).filter(([name]) => name.endsWith('_size'));
  return Object.fromEntries(sizes.map(([name, size]) => [name.replace('_size', ''), size]));
}

function messagesOf(queue: Readonly<Record<string, unknown>>, { state = 'que', limit }: Named): unknown {
  const lists = queue['messages'] as Readonly<Record<string, readonly unknown[]>> | undefined;
  return (lists?.[state] ?? []).slice(0, limit);
}

/** The file is read here and sent: it need not be on the same file system. */
async function attach(socket: string, message: string, { pathname = '', name }: Named): Promise<unknown> {
  if (!pathname.startsWith('/')) return ['fail', 'pathname must be absolute'];
  const { type, body } = formWithFile(pathname, name ?? basename(pathname));
  return ask(socket, `${message}/attach/new`, { method: 'POST', type, body });
}

const shortId = (id: string): string => id.trim().replace(/^.*\/q\/[^/]+\//, '');
