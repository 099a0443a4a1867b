/**
 * An RQ host whose every answer was recorded from a real RQ (test/compat/rq-recorded.ts). It keeps only what decides
 * which of them is due: the messages, their state and their files.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer } from '../compat/rq-conversation.ts';
import { OVER_HTTP } from '../compat/rq-recorded.ts';

export interface RqMessage {
  readonly id: string;
  readonly queue: string;
  readonly fields: Readonly<Record<string, unknown>>;
  state: 'prep' | 'que';
  readonly attachments: Map<string, Buffer>;
}

export interface RqRecordedHost {
  readonly base: string;
  readonly messages: Map<string, RqMessage>;
  readonly asked: string[];
  readonly queues: Map<string, 'UP' | 'DOWN'>;
  /** The fate of the response to a request; undefined: it is sent. */
  onAnswer: (request: string) => 'lose' | undefined;
  /** Changes the MD5 in the response. */
  md5: (real: string) => string;
  close(): Promise<void>;
}

export async function openRqRecordedHost(queues: readonly string[]): Promise<RqRecordedHost> {
  const server = createServer((request, response) => void answer(host, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host: RqRecordedHost = {
    base: `http://127.0.0.1:${port}/`,
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

async function answer(host: RqRecordedHost, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = `${request.method} ${request.url}`;
  host.asked.push(asked);
  const body = Buffer.concat((await request.toArray().catch(() => [])) as Buffer[]);
  const [status, value] = request.method === 'POST' ? post(host, request, body) : get(host, request.url ?? '');
  if (host.onAnswer(asked) === 'lose') return void request.socket.destroy();
  if (value === undefined) return void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>RQ</h1>');
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Returns the recorded answer with the values of this message in it. */
function recorded(title: string, values: { address?: string; md5?: string } = {}): Answer {
  const [status, value] = OVER_HTTP[title] ?? [];
  if (status === undefined) throw new Error(`no answer was recorded for ${title}`);
  if (!Array.isArray(value)) return [status];
  const put = (text: unknown): unknown =>
    typeof text !== 'string'
      ? text
      : text.replace('<address>', values.address ?? '').replace(/^[0-9a-f]{32}(?=-)/, values.md5 ?? '');
  return [status, value.map(put)];
}

function get({ queues, messages }: RqRecordedHost, path: string): Answer {
  if (path === '/q.json')
    return [200, { version: '1.18.3', queues: [...queues].map(([name, status]) => ({ name, status })) }];
  const [, queue, id = '', rest] = /^\/q\/([^/]+)\/([^/]+?)(\.json|\/state\.json|\/log\/stdio\.log)$/.exec(path) ?? [];
  const message = messages.get(id);
  if (message === undefined || message.queue !== queue) return recorded('a message that does not exist');
  if (rest === '/state.json') return [200, [message.state]];
  if (rest === '/log/stdio.log') return [200, 'what it printed'];
  const attached = [...message.attachments].map(([name, bytes]) => [name, { md5: md5Of(bytes), size: bytes.length }]);
  const about = { ...message.fields, msg_id: id, state: message.state, status: message.state };
  return [200, { ...about, ...(attached.length > 0 && { _attachments: Object.fromEntries(attached) }) }];
}

function post(host: RqRecordedHost, request: IncomingMessage, body: Buffer): Answer {
  if (request.headers['content-length'] === undefined || request.headers['content-type'] === undefined) return [400];
  const [, queue = '', rest = ''] = /^\/q\/([^/]+)(\/.*)$/.exec(request.url ?? '') ?? [];
  const status = host.queues.get(queue);
  if (status === undefined) return recorded('no such queue');
  const form = new URLSearchParams(body.toString());
  if (rest === '/new_message') return status === 'DOWN' ? [503] : newMessage(host, queue, form);
  if (status === 'DOWN') return [200, ['fail', 'status: DOWN']];
  const [, id = '', file] = /^\/([^/]+)(?:\/attach\/(.+))?$/.exec(rest) ?? [];
  const message = host.messages.get(id);
  if (file === 'new') return attachTo(host, message, { body, type: request.headers['content-type'] });
  if (file !== undefined) return removeFrom(message, file);
  if (form.get('_method') !== 'commit') return recorded('a method for a message that RQ does not know');
  if (message === undefined) return recorded('commit of a message that does not exist');
  if (message.state !== 'prep') return recorded('commit of a committed message');
  message.state = 'que';
  return recorded('commit');
}

function newMessage({ messages, base }: RqRecordedHost, queue: string, form: URLSearchParams): Answer {
  const { _method = 'commit', ...fields } = JSON.parse(form.get('mesg') ?? '') as Record<string, unknown>;
  if (_method !== 'prep' && _method !== 'commit') return recorded('_method inside mesg that RQ does not know');
  if (!('dest' in fields)) return recorded('no dest');
  const id = `20260101.0000.00.000.${messages.size + 1}`;
  messages.set(id, { id, queue, fields, state: _method === 'prep' ? 'prep' : 'que', attachments: new Map() });
  return recorded('prep', { address: `${base}q/${queue}/${id}` });
}

function removeFrom(message: RqMessage | undefined, name: string): Answer {
  if (message === undefined) return recorded('delete of a file of a message that does not exist');
  if (message.state !== 'prep') return recorded('delete of a file of a committed message');
  if (message.attachments.size === 0) return recorded('delete of a file from a message without files');
  const wasThere = message.attachments.delete(name);
  return recorded(wasThere ? 'delete of a file' : 'delete of a file that is not there');
}

function attachTo(host: RqRecordedHost, message: RqMessage | undefined, sent: { body: Buffer; type: string }): Answer {
  const boundary = /boundary=([^;]+)/.exec(sent.type)?.[1] ?? '';
  const file = partsOf(sent.body, boundary).find(({ head }) => head.includes('name="filedata"'));
  const name = /filename="([^"]*)"/.exec(file?.head ?? '')?.[1];
  if (file === undefined || name === undefined) return recorded('attach without a file');
  if (message === undefined) return recorded('attach to a message that does not exist');
  if (message.state !== 'prep') return recorded('attach to a committed message');
  message.attachments.set(name, file.content);
  return recorded('attach', { md5: host.md5(md5Of(file.content)) });
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
