/**
 * A fetch handler over a Node request handler: each request is sent over a connection within the process, so that both
 * have the same parser, limits and streams.
 */
import type { IncomingMessage } from 'node:http';
import { createServer, request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { MountedHandler } from './create-handler.ts';
import { duplexPair } from './duplex-pair.ts';

/** Headers that concern one connection. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer']);
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** `sources` gets the fetch request of each connection, for `authorize`. */
export function createFetch(
  handle: MountedHandler['node'],
  sources: WeakMap<object, Request>,
): MountedHandler['fetch'] {
  const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0 }, (request, response) =>
    handle(request, response),
  );
  return async (request) => {
    const [near, far] = duplexPair();
    sources.set(far, request);
    server.emit('connection', far);
    const { pathname, search, host } = new URL(request.url);
    const asked = httpRequest({
      method: request.method,
      path: pathname + search,
      headers: { ...headersOf(request), host: request.headers.get('host') ?? host, connection: 'close' },
      createConnection: () => near,
    });
    request.signal.addEventListener('abort', () => asked.destroy(), { once: true });
    return new Promise((resolve, reject) => {
      asked.once('response', (answer) => resolve(toResponse(answer)));
      asked.once('error', reject);
      if (request.body === null) asked.end();
      else
        Readable.fromWeb(request.body as NodeReadableStream)
          .on('error', reject)
          .pipe(asked);
    });
  };
}

function headersOf({ headers }: Request): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !HOP_BY_HOP.has(name)));
}

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(answer.headers)) {
    if (HOP_BY_HOP.has(name)) continue;
    for (const each of [value].flat()) if (each !== undefined) headers.append(name, each);
  }
  const status = answer.statusCode ?? 500;
  if (WITHOUT_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers });
}
