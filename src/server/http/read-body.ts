/**
 * Reading what a caller sends: no more than the route's limit, no slower than a least pace, and of the right type.
 *
 * Invariant: a body that is too large is refused before it is read whole.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { parseBody } from './parse-body.ts';
import { refuseRequest } from './problem.ts';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Told of each piece that is held in memory; throws when there is no room for more. */
  hold?(bytes: number): void;
}

/** A body must bring this many bytes in each such time, or it is given up. */
const PACE_MS = 30_000;
const PACE_BYTES = 1024 * (PACE_MS / 1000);
const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?\s*$/i;

/** The parsed JSON; an absent body counts as an empty object, so that a plain POST needs no words. */
export async function readJson(exchange: Exchange, limit: number): Promise<unknown> {
  const { request } = exchange;
  const type = request.headers['content-type'];
  if (type === undefined && !hasBody(request)) return {};
  mustBe(request, JSON_TYPE, 'application/json');
  const chunks: Buffer[] = [];
  for await (const chunk of readBytes(exchange, limit)) {
    exchange.hold?.(chunk.length);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  return body.length === 0 ? {} : parseBody(body);
}

/** The body as it comes. Errors of the stream are RequestRefused. */
export function openBytes(exchange: Exchange, limit: number): Readable {
  return Readable.from(readBytes(exchange, limit), { objectMode: false });
}

/** What the head alone tells of a stream to come: asked before anything is opened for it. */
export function checkBytes(request: IncomingMessage, limit: number): void {
  mustBe(request, /^application\/octet-stream\s*$/i, 'application/octet-stream');
  checkLength(request, limit);
}

/** A form or a plain text is what a foreign page can have sent without asking; so it is not even taken when empty. */
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
  throw refuseRequest('wrong-content-type', `the body must be ${name}, not ${type ?? 'of no named type'}`);
}

async function* readBytes({ request, response }: Exchange, limit: number): AsyncGenerator<Buffer> {
  checkLength(request, limit);
  if (request.headers.expect !== undefined) response.writeContinue();
  // A request that is given up must live long enough to be told why: to destroy it is to hang up.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  const pace = watchPace(request, response);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await pace.during(chunks.next());
      if (done === true) return;
      bytes += value.length;
      if (bytes > limit) throw tooLarge(limit);
      yield value;
    }
  } finally {
    pace.stop();
  }
}

function checkLength({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

function tooLarge(limit: number): Error {
  return refuseRequest('too-large', `the body may have at most ${limit} bytes`, CLOSING);
}

/** The rest of the body stays unread, so the connection cannot carry another request. */
const CLOSING = { headers: { connection: 'close' } };

interface Pace {
  /** Rejects when the pace is lost before this comes. */
  during(next: Promise<IteratorResult<Buffer>>): Promise<IteratorResult<Buffer>>;
  stop(): void;
}

/**
 * Ends with the answer at the latest. A request that was answered before all of its body came is destroyed by nothing: its
 * next piece would be waited for without end, and the timer would keep a node from stopping.
 */
function watchPace(request: IncomingMessage, response: ServerResponse): Pace {
  let taken = 0;
  let giveUp: (error: Error) => void = () => undefined;
  const answered = (): void => {
    clearInterval(timer);
    giveUp(refuseRequest('bad-request', 'the request was answered before all of it came', CLOSING));
  };
  const timer = setInterval(() => {
    // A reader that is slow itself leaves the rest waiting in the request: that is not the caller's fault.
    if (taken < PACE_BYTES && request.readableLength === 0 && !request.readableEnded)
      giveUp(refuseRequest('too-slow', `less than ${PACE_BYTES} bytes came in ${PACE_MS / 1000} s`, CLOSING));
    taken = 0;
  }, PACE_MS);
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
