/** Sends requests to a node over its socket or its address. A problem response is thrown as a LonghaulError of its code. */
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ErrorCode } from '../../core/ports/errors.ts';
import { ERROR_CODES, LonghaulError } from '../../core/ports/errors.ts';
import { REFUSAL_CODES } from '../../core/ports/refusal.ts';
import { settingsOf } from '../../stores/http/options.ts';
import type { ProblemDetails } from '../../wire/problem-details.ts';

export interface HttpRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: AsyncIterable<Uint8Array>;
  readonly expects?: readonly number[];
  readonly signal?: AbortSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Returns an empty string if the header is missing. */
  header(name: string): string;
  readonly body: AsyncIterable<Uint8Array>;
  bytes(): Promise<Uint8Array>;
  json(): Promise<unknown>;
}

export interface HttpCaller {
  call(method: string, path: string, request?: HttpRequest): Promise<HttpResponse>;
  /** Closes the connections. Without it, a response that is not read to its end would keep the process alive. */
  close(): void;
}

/** `address` is `unix:/path/node.sock`, `http://host:port` or `https://…`. */
export function createHttpCaller(address: string, token: string | undefined): HttpCaller {
  const { socketPath, url: base } = settingsOf({ address });
  const isSecure = base.protocol === 'https:';
  const send = isSecure ? requestHttps : requestHttp;
  const agent = isSecure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  return {
    async call(method, path, { headers = {}, body, expects = [200], signal } = {}) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const all = { ...headers, ...authorization };
      const where = { ...(socketPath !== null && { socketPath }), ...(signal !== undefined && { signal }) };
      const options: RequestOptions = { method, agent, headers: all, ...where };
      const message = await responseTo(send(new URL(path.slice(1), base), options), body).catch((error: unknown) => {
        signal?.throwIfAborted();
        throw error instanceof LonghaulError ? error : unavailable(address, error);
      });
      const response = toResponse(message, address);
      if (!expects.includes(response.status)) throw await toError(response);
      return response;
    },
    close: () => agent.destroy(),
  };
}

const EARLY_ANSWER_MS = 100;

function responseTo(
  request: ReturnType<typeof requestHttp>,
  body: AsyncIterable<Uint8Array> | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // A node that refuses a body answers and then closes the connection: the answer may arrive after the error.
    const fail = (error: unknown): void => void setTimeout(() => reject(error as Error), EARLY_ANSWER_MS);
    request.on('response', resolve);
    request.on('error', body === undefined ? reject : fail);
    if (body === undefined) request.end();
    else pipeline(Readable.from(body, { objectMode: false }), request).catch(fail);
  });
}

/** A truncated response counts as no response, because a node can be killed at any byte. */
function toResponse(message: IncomingMessage, address: string): HttpResponse {
  const bytes = async (): Promise<Uint8Array> => {
    const chunks = await message.toArray().catch((error: unknown) => {
      throw unavailable(address, error);
    });
    return Buffer.concat(chunks as Buffer[]);
  };
  return {
    status: message.statusCode ?? 0,
    header: (name) => String(message.headers[name] ?? ''),
    body: readBody(message, address),
    bytes,
    json: async () => JSON.parse(Buffer.from(await bytes()).toString('utf8')) as unknown,
  };
}

async function* readBody(message: IncomingMessage, address: string): AsyncGenerator<Uint8Array> {
  try {
    yield* message as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw unavailable(address, error);
  }
}

function unavailable(address: string, error: unknown): LonghaulError {
  return new LonghaulError('store-unavailable', `cannot reach ${address}: ${(error as Error).message}`, {
    cause: error,
  });
}

/** A wrong or insufficient token is a setting that the user must correct, as it is for the calls of the store. */
const TOKEN_CODES: ReadonlySet<string | undefined> = new Set(['unauthenticated', 'forbidden']);
const TRANSIENT_CODES: ReadonlySet<string | undefined> = new Set(['too-many-requests', 'overloaded', 'store-closed']);

async function toError(response: HttpResponse): Promise<LonghaulError> {
  const problem = (await response.json().catch(() => ({}))) as Partial<ProblemDetails>;
  const message = problem.detail ?? problem.title ?? `the node answered HTTP ${response.status}`;
  const code = REFUSAL_CODES.find((each) => each === problem.code);
  return new LonghaulError(errorCode(problem.code), message, {
    ...(problem.problems !== undefined && { problems: problem.problems }),
    ...(code !== undefined && { refusal: { code, message } }),
  });
}

function errorCode(code: string | undefined): ErrorCode {
  if (TRANSIENT_CODES.has(code)) return 'store-unavailable';
  return ERROR_CODES.find((each) => each === code) ?? (TOKEN_CODES.has(code) ? 'bad-input' : 'refused');
}
