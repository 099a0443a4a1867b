/**
 * Sends requests to one server over keep-alive connections. It never resends: a lost reply is `outcome-unknown`, and the
 * caller repeats the call.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { HttpSettings } from './options.ts';
import { lostReply, problemOf, unreachable } from './problem.ts';

/** Idle connections are closed by this side first (the server waits longer), so that no request meets a closing one. */
const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16, timeout: 30_000 };

type Headers = Readonly<Record<string, string>>;

interface ClientCall {
  readonly argument: unknown;
  /** The call changes nothing, so a lost reply means `store-unavailable`. */
  readonly isRead: boolean;
  readonly headers?: Headers;
}

interface SentBody {
  readonly body: string;
  readonly isRead: boolean;
  readonly headers: Headers;
}

export class HttpClient {
  readonly #settings: HttpSettings;
  readonly #agent: HttpAgent;
  readonly #ready: () => Promise<void> | undefined;
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  /** `ready` returns what each call waits for before it is sent. */
  constructor(settings: HttpSettings, ready: () => Promise<void> | undefined) {
    this.#settings = settings;
    this.#ready = ready;
    this.#agent = settings.url.protocol === 'https:' ? new HttpsAgent(AGENT) : new HttpAgent(AGENT);
  }

  /** Makes a call. */
  call(path: string, { argument, isRead, headers = {} }: ClientCall): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new LonghaulError('store-closed', 'the store is closed'));
    const answer = this.#exchange(path, { body: JSON.stringify(argument), isRead, headers });
    this.#open.add(answer);
    const forget = () => this.#open.delete(answer);
    answer.then(forget, forget);
    return answer;
  }

  async #exchange(path: string, sent: SentBody): Promise<unknown> {
    const { isRead } = sent;
    await this.#ready();
    const response = await this.#send(path, sent);
    const text = await textOf(response).catch((cause: unknown) => {
      throw lostReply(isRead, cause);
    });
    if (response.statusCode === 200) return parsed(text, isRead);
    throw problemOf(response.statusCode ?? 0, text, isRead);
  }

  /** Resolves with the head of the answer. A failure before the connection is established had no effect. */
  #send(path: string, { body, isRead, headers }: SentBody): Promise<IncomingMessage> {
    const { callTimeoutMs } = this.#settings;
    return new Promise((resolve, reject) => {
      const request = this.request('POST', path, {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      const progress = watchConnection(request, this.#settings.connectTimeoutMs);
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${callTimeoutMs} ms`)), callTimeoutMs);
      request.once('close', () => clearTimeout(timer));
      request.once('response', resolve);
      request.on('error', (error) => reject(progress.isConnected ? lostReply(isRead, error) : unreachable(error)));
      request.end(body);
    });
  }

  request(method: string, path: string, headers: Readonly<Record<string, string | number>> = {}): ClientRequest {
    const { url, socketPath, token } = this.#settings;
    const make = url.protocol === 'https:' ? httpsRequest : httpRequest;
    return make(new URL(path.slice(1), url), {
      method,
      agent: this.#agent,
      headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
      ...(socketPath !== null && { socketPath }),
    });
  }

  /** Closes the connections after every open call has its answer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#open);
    this.#agent.destroy();
  }
}

function watchConnection(request: ClientRequest, timeoutMs: number): { readonly isConnected: boolean } {
  const progress = { isConnected: false };
  const timer = setTimeout(() => request.destroy(new Error(`no connection in ${timeoutMs} ms`)), timeoutMs);
  const connected = (): void => {
    progress.isConnected = true;
    clearTimeout(timer);
  };
  request.once('socket', (socket) => {
    if (socket.connecting) socket.once('connect', connected);
    else connected();
  });
  request.once('close', () => clearTimeout(timer));
  return progress;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function parsed(text: string, isRead: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw lostReply(isRead, error);
  }
}
