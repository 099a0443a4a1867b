/**
 * A host that implements only the HTTP interface of RQ 1.18, after RQ's documentation: queues, messages in prep, their
 * attachments with an MD5 in the response, commit, states. It knows only its own ids and remembers no commit: like the
 * original, it answers "cannot find message" to any message that is not in prep.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RqMessage {
  readonly id: string;
  readonly queue: string;
  readonly fields: Readonly<Record<string, unknown>>;
  state: 'prep' | 'que' | 'done';
  readonly attachments: Map<string, Buffer>;
}

export interface RqStandIn {
  readonly base: string;
  readonly port: number;
  readonly messages: Map<string, RqMessage>;
  readonly asked: string[];
  readonly queues: Map<string, 'UP' | 'DOWN'>;
  /** The fate of the response to a request; undefined: it is sent. */
  onAnswer: (request: string) => 'lose' | undefined;
  /** Changes the MD5 in the response. */
  md5: (real: string) => string;
  close(): Promise<void>;
}

export async function openRqStandIn(queues: readonly string[]): Promise<RqStandIn> {
  const server = createServer((request, response) => void answer(host, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host: RqStandIn = {
    base: `http://127.0.0.1:${port}/`,
    port,
    messages: new Map(),
    asked: [],
    queues: new Map(queues.map((name) => [name, 'UP'])),
    onAnswer: () => undefined,
    md5: (real) => real,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return host;
}

interface Reply {
  readonly status: number;
  /** A JSON value, or null for RQ's "not found" page. */
  readonly value: unknown;
}

const NOT_FOUND: Reply = { status: 404, value: null };
const ok = (...values: unknown[]): Reply => ({ status: 200, value: ['ok', ...values] });
const fail = (status: number, ...values: unknown[]): Reply => ({ status, value: ['fail', ...values] });

async function answer(host: RqStandIn, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  host.asked.push(asked);
  const body = Buffer.concat((await request.toArray().catch(() => [])) as Buffer[]);
  const reply = request.method === 'POST' ? post(host, request, body) : get(host, request.url ?? '');
  if (host.onAnswer(asked) === 'lose') return void request.socket.destroy();
  if (reply.value === null)
    return void response.writeHead(reply.status, { 'content-type': 'text/html' }).end('<h1>Not Found</h1>');
  response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.value));
}

function get({ queues, messages }: RqStandIn, path: string): Reply {
  if (path === '/q.json')
    return {
      status: 200,
      value: { version: '1.18.3', queues: [...queues].map(([name, status]) => ({ name, status })) },
    };
  const [, queue, id = '', rest] = /^\/q\/([^/]+)\/([^/]+?)(\.json|\/state\.json|\/log\/stdio\.log)$/.exec(path) ?? [];
  const message = messages.get(id);
  if (message === undefined || message.queue !== queue) return NOT_FOUND;
  if (rest === '/state.json') return { status: 200, value: [message.state] };
  if (rest === '/log/stdio.log') return { status: 200, value: 'what it printed' };
  const attached = [...message.attachments].map(([name, bytes]) => [name, { md5: md5Of(bytes), size: bytes.length }]);
  return {
    status: 200,
    value: {
      ...message.fields,
      msg_id: id,
      state: message.state,
      status: message.state,
      _attachments: Object.fromEntries(attached),
    },
  };
}

function post(host: RqStandIn, request: IncomingMessage, body: Buffer): Reply {
  if (request.headers['content-length'] === undefined || request.headers['content-type'] === undefined)
    return fail(400);
  const [, queue = '', rest = ''] = /^\/q\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
  const status = host.queues.get(queue);
  if (status === undefined) return NOT_FOUND;
  if (status === 'DOWN') return fail(503, 'status: DOWN');
  if (rest === '/new_message') return newMessage(host, queue, new URLSearchParams(body.toString()));
  const [, id = '', attach] = /^\/([^/]+)(\/attach\/new)?$/.exec(rest) ?? [];
  const message = host.messages.get(id);
  if (attach !== undefined) return attachTo(host, message, { body, type: request.headers['content-type'] });
  if (new URLSearchParams(body.toString()).get('_method') !== 'commit') return fail(400, 'bad _method');
  if (message?.state !== 'prep') return fail(200, 'cannot find message');
  message.state = 'que';
  return ok('msg commited');
}

function newMessage({ messages, base }: RqStandIn, queue: string, form: URLSearchParams): Reply {
  const method = form.get('_method') ?? 'commit';
  if (method !== 'prep' && method !== 'commit') return fail(400, 'bad _method');
  const fields = JSON.parse(form.get('mesg') ?? '{}') as Record<string, unknown>;
  if (typeof fields['dest'] !== 'string') return fail(200, 'dest is missing');
  const id = `20260101.0000.00.000.${messages.size + 1}`;
  messages.set(id, { id, queue, fields, state: method === 'prep' ? 'prep' : 'que', attachments: new Map() });
  return ok(`${base}q/${queue}/${id}`);
}

function attachTo(
  host: RqStandIn,
  message: RqMessage | undefined,
  { body, type }: { body: Buffer; type: string },
): Reply {
  const boundary = /boundary=([^;]+)/.exec(type)?.[1];
  if (boundary === undefined || message?.state !== 'prep') return NOT_FOUND;
  const file = partsOf(body, boundary).find(({ head }) => head.includes('name="filedata"'));
  const name = /filename="([^"]*)"/.exec(file?.head ?? '')?.[1];
  if (file === undefined || name === undefined) return NOT_FOUND;
  message.attachments.set(name, file.content);
  return ok(`${host.md5(md5Of(file.content))}-Attached successfully`);
}

function partsOf(body: Buffer, boundary: string): { head: string; content: Buffer }[] {
  const mark = Buffer.from(`--${boundary}`);
  const parts: { head: string; content: Buffer }[] = [];
  for (let at = body.indexOf(mark); at >= 0; ) {
    const next = body.indexOf(mark, at + mark.length);
    if (next < 0) break;
    const part = body.subarray(at + mark.length + 2, next - 2);
    const end = part.indexOf('\r\n\r\n');
    parts.push({ head: part.subarray(0, end).toString(), content: part.subarray(end + 4) });
    at = next;
  }
  return parts;
}

const md5Of = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
