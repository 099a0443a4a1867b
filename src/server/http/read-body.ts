/**
 * Reads request bodies: up to the limit of the route, at a minimum rate, and of the right content type.
 *
 * Invariant: a body that is too large is refused before it is read completely.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { parseBody } from './parse-body.ts';
import { refuseRequest } from './problem.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Reserves memory for each chunk; throws when the limit is reached. */
  reserve?(bytes: number): void;
}

/** A body must deliver this many bytes in each period, or the request is refused. */
const PERIOD_MS = 30_000;
const MIN_BYTES = 1024 * (PERIOD_MS / 1000);
const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?\s*$/i;

/** Reads a JSON body. An absent body counts as an empty object, so that a plain POST needs none. */
export async function readJson(exchange: Exchange, limit: number): Promise<unknown> {
  const { request } = exchange;
  const type = request.headers['content-type'];
  if (type === undefined && !hasBody(request)) return {};
  mustBe(request, JSON_TYPE, 'application/json');
  const chunks: Buffer[] = [];
  for await (const chunk of readBytes(exchange, limit)) {
    exchange.reserve?.(chunk.length);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  return body.length === 0 ? {} : parseBody(body);
}

/** Returns the body as a stream. Its errors are RequestRefused. */
export function openBytes(exchange: Exchange, limit: number): Readable {
  return Readable.from(readBytes(exchange, limit), { objectMode: false });
}

/** Checks type and length of a streamed body from its headers, before any file is opened for it. */
export function checkBytes(request: IncomingMessage, limit: number): void {
  mustBe(request, /^application\/octet-stream\s*$/i, 'application/octet-stream');
  checkLength(request, limit);
}

/** Refuses any body. Form and text types are refused even when empty: foreign pages can send them without a preflight. */
export function refuseBody(request: IncomingMessage): void {
  if (request.headers['content-type'] !== undefined) mustBe(request, JSON_TYPE, 'absent, or application/json');
  if (hasBody(request)) throw refuseRequest('bad-request', 'this operation takes no body');
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function mustBe({ headers }: IncomingMessage, pattern: RegExp, name: string): void {
  const type = headers['content-type'];
  if (type !== undefined && pattern.test(type)) return;
  throw refuseRequest('wrong-content-type', `the content type must be ${name}, not ${type ?? 'absent'}`);
}

async function* readBytes({ request, response }: Exchange, limit: number): AsyncGenerator<Buffer> {
  checkLength(request, limit);
  if (request.headers.expect !== undefined) response.writeContinue();
  // A refused request must stay open for its answer: destroying it closes the connection.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const rate = watchRate(request, response);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await rate.during(chunks.next());
      if (done === true) return;
      bytes += value.length;
      if (bytes > limit) throw tooLarge(limit);
      yield value;
    }
  } finally {
    rate.stop();
  }
}

function checkLength({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

function tooLarge(limit: number): Error {
  return refuseRequest('too-large', `the body may have at most ${limit} bytes`, CLOSING);
}

/** The rest of the body is not read, so the connection cannot carry another request. */
const CLOSING = { headers: { connection: 'close' } };

interface RateWatch {
  /** Rejects when the rate falls below the minimum before `next` resolves. */
  during(next: Promise<IteratorResult<Buffer>>): Promise<IteratorResult<Buffer>>;
  stop(): void;
}

/**
 * Watches the rate until the answer was sent. A request that is answered before its body is complete is not destroyed:
 * without this, its next chunk would be awaited forever, and the timer would keep a node from stopping.
 */
function watchRate(request: IncomingMessage, response: ServerResponse): RateWatch {
  let taken = 0;
  let giveUp: (error: Error) => void = () => undefined;
  const answered = (): void => {
    clearInterval(timer);
    giveUp(refuseRequest('bad-request', 'the request was answered before its body was complete', CLOSING));
  };
  const timer = setInterval(() => {
    // Buffered bytes mean that the reader is slow, and not the caller.
    if (taken < MIN_BYTES && request.readableLength === 0 && !request.readableEnded)
      giveUp(refuseRequest('too-slow', `less than ${MIN_BYTES} bytes arrived in ${PERIOD_MS / 1000} s`, CLOSING));
    taken = 0;
  }, PERIOD_MS);
  response.once('close', answered);
  return {
    during: (next) =>
      new Promise((resolve, reject) => {
        giveUp = reject;
        if (response.closed) answered();
        next.then((result) => {
          taken += result.value?.length ?? 0;
          resolve(result);
        }, reject);
      }),
    stop: () => {
      clearInterval(timer);
      response.off('close', answered);
    },
  };
}
