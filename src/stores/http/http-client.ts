/**
 * Requests to one server over connections that are kept. It never sends anything twice by itself: a reply that was lost is
 * `outcome-unknown`, and the caller repeats.
 */
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { HttpSettings } from './options.ts';
import { lostReply, problemOf, unreachable } from './problem.ts';

/** Idle connections end on this side first (the server's wait is longer), so that no request goes into a closing one. */
const AGENT = { keepAlive: true, maxSockets: 64, maxFreeSockets: 16, timeout: 30_000 };

export class HttpClient {
  readonly #settings: HttpSettings;
  readonly #agent: HttpAgent;
  readonly #ready: () => Promise<void> | undefined;
  readonly #open = new Set<Promise<unknown>>();
  #isClosed = false;

  /** `ready`: what a call waits for before it goes out. */
  constructor(settings: HttpSettings, ready: () => Promise<void> | undefined) {
    this.#settings = settings;
    this.#ready = ready;
    this.#agent = settings.url.protocol === 'https:' ? new HttpsAgent(AGENT) : new HttpAgent(AGENT);
  }

  /** `isLook`: nothing is changed by it, so a lost reply has done nothing. */
  call(path: string, body: unknown, isLook: boolean): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new LonghaulError('store-closed', 'the store is closed'));
    const answer = this.#ask(path, { body: JSON.stringify(body), isLook });
    this.#open.add(answer);
    const forget = () => this.#open.delete(answer);
    answer.then(forget, forget);
    return answer;
  }

  async #ask(path: string, { body, isLook }: { body: string; isLook: boolean }): Promise<unknown> {
    await this.#ready();
    const response = await this.#send(path, body, isLook);
    const text = await textOf(response).catch((cause: unknown) => {
      throw lostReply(isLook, cause);
    });
    if (response.statusCode === 200) return parsed(text, isLook);
    throw problemOf(response.statusCode ?? 0, text, isLook);
  }

  /** Resolved with the head of the answer. Until the connection stands, nothing can have been done. */
  #send(path: string, body: string, isLook: boolean): Promise<IncomingMessage> {
    const { callTimeoutMs } = this.#settings;
    return new Promise((resolve, reject) => {
      const request = this.request('POST', path, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      const progress = watchConnection(request, this.#settings.connectTimeoutMs);
      const timer = setTimeout(() => request.destroy(new Error(`no answer in ${callTimeoutMs} ms`)), callTimeoutMs);
      request.once('close', () => clearTimeout(timer));
      request.once('response', resolve);
      request.on('error', (error) => reject(progress.isConnected ? lostReply(isLook, error) : unreachable(error)));
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

  /** Every call gets its answer first. */
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

function parsed(text: string, isLook: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw lostReply(isLook, error);
  }
}
