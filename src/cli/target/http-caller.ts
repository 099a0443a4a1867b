/** Requests to a node, by its socket or its address. What it answers as a problem is thrown as what it is. */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ErrorCode } from '../../core/ports/errors.ts';
import { ERROR_CODES, LonghaulError } from '../../core/ports/errors.ts';
import type { ProblemDetails } from '../../wire/problem-details.ts';

export interface HttpRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly expects?: readonly number[];
}

export interface HttpAnswer {
  readonly status: number;
  /** Empty when there is none. */
  header(name: string): string;
  readonly body: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  json(): Promise<unknown>;
}

export interface HttpCaller {
  call(method: string, path: string, request?: HttpRequest): Promise<HttpAnswer>;
  /** An answer that nobody read to its end would keep the process. */
  close(): void;
}

/** `unix:/path/node.sock`, `http://host:port` or `https://…`. */
export function createHttpCaller(address: string, token: string | undefined): HttpCaller {
  const socketPath = address.startsWith('unix:') ? address.slice('unix:'.length) : undefined;
  const base = new URL(socketPath === undefined ? address : 'http://localhost/');
  const isSecure = base.protocol === 'https:';
  const send = isSecure ? requestHttps : requestHttp;
  const agent = isSecure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  return {
    async call(method, path, { headers = {}, body, expects = [200] } = {}) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const all = { ...headers, ...authorization };
      const options: RequestOptions = { method, agent, headers: all, ...(socketPath && { socketPath }) };
      const message = await sent(send(new URL(path, base), options), body).catch((error: unknown) => {
        throw away(address, error);
      });
      const answer = answerOf(message, address);
      if (!expects.includes(answer.status)) throw await problemOf(answer);
      return answer;
    },
    close: () => agent.destroy(),
  };
}

function sent(
  request: ReturnType<typeof requestHttp>,
  body: AsyncIterable<Uint8Array> | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    if (body === undefined) request.end();
    else pipeline(Readable.from(body, { objectMode: false }), request).catch(reject);
  });
}

/** An answer that ends in its middle is one that did not come: a node may be killed at any byte. */
function answerOf(message: IncomingMessage, address: string): HttpAnswer {
  const bytes = async (): Promise<Uint8Array> => {
    const pieces = await message.toArray().catch((error: unknown) => {
      throw away(address, error);
    });
    return Buffer.concat(pieces as Buffer[]);
  };
  return {
    status: message.statusCode ?? 0,
    header: (name) => String(message.headers[name] ?? ''),
    body: message,
    bytes,
    json: async () => JSON.parse(Buffer.from(await bytes()).toString('utf8')) as unknown,
  };
}

function away(address: string, error: unknown): LonghaulError {
  return new LonghaulError('store-unavailable', `${address} cannot be reached: ${(error as Error).message}`, {
    cause: error,
  });
}

/** A token that is wrong or may not do this is a setting to be corrected, as it is for the calls of the store. */
const OF_THE_TOKEN: ReadonlySet<string | undefined> = new Set(['unauthenticated', 'forbidden']);
const PASSING: ReadonlySet<string | undefined> = new Set(['too-many-requests', 'overloaded', 'store-closed']);

async function problemOf(answer: HttpAnswer): Promise<LonghaulError> {
  const problem = (await answer.json().catch(() => ({}))) as Partial<ProblemDetails>;
  const message = problem.detail ?? problem.title ?? `the node answered ${answer.status}`;
  return new LonghaulError(
    meaningOf(problem.code),
    message,
    problem.problems === undefined ? {} : { problems: problem.problems },
  );
}

function meaningOf(code: string | undefined): ErrorCode {
  if (PASSING.has(code)) return 'store-unavailable';
  return ERROR_CODES.find((each) => each === code) ?? (OF_THE_TOKEN.has(code) ? 'bad-input' : 'refused');
}
