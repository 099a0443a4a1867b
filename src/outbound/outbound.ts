/**
 * The one way out: every call that this node makes to an address somebody gave it, relays and hooks alike.
 *
 * Invariant: no connection is made to a private address that `allowDestinations` does not name; it is judged when the
 * connection is made, and again for each one. Redirects are answers, never followed. Answers have a most size, every
 * step has a time, and TLS is always verified. Nothing is ever sent twice by itself.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { addAbortSignal } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Destinations } from './destinations.ts';
import { guardedLookup } from './guarded-lookup.ts';
import { portOf, refusedBySight } from './outbound-address.ts';
import type { OutboundAnswer, OutboundCall, OutboundOpened, OutboundProblem, UploadBody } from './outbound-call.ts';
import { DEFAULT_ANSWER_BYTES, DEFAULT_TIMES } from './outbound-call.ts';
import { failedCall, problem } from './outbound-problem.ts';
import { paced } from './paced.ts';
import { Patience } from './patience.ts';

export interface Outbound {
  call(call: OutboundCall): Promise<OutboundAnswer>;
  /** For an answer of any size: what comes of it is held to `idleMs` alone. */
  open(call: OutboundCall): Promise<OutboundOpened>;
  close(): void;
}

const LAST_WORDS_MS = 100;
/** Idle connections end on this side first, so that no request goes into one that is being closed. */
const AGENT = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8, timeout: 15_000 };

/** `destinations` is asked for each connection: what the settings say then holds. */
export function openOutbound(
  destinations: () => Destinations,
  { maxSockets }: { maxSockets: number } = AGENT,
): Outbound {
  const options = { ...AGENT, maxSockets };
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
  const make = async <Answer>(call: OutboundCall, use: UseAnswer<Answer>): Promise<Answer | Failed> => {
    const refused = refusedBySight(call.url, destinations());
    if (refused !== null) return { ok: false, problem: refused };
    return exchange(call, () => start(call, { agents, destinations }), use);
  };
  return {
    call: (call) => make<OutboundAnswer>(call, read),
    open: (call) => make<OutboundOpened>(call, open),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

type Failed = { readonly ok: false; readonly problem: OutboundProblem };
type UseAnswer<Answer> = (response: IncomingMessage, call: OutboundCall, patience: Patience) => Promise<Answer>;

interface Way {
  readonly agents: { readonly 'http:': HttpAgent; readonly 'https:': HttpsAgent };
  readonly destinations: () => Destinations;
}

function start(call: OutboundCall, { agents, destinations }: Way): ClientRequest {
  const isTls = call.url.protocol === 'https:';
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    method: call.method,
    agent: isTls ? agents['https:'] : agents['http:'],
    headers: headersOf(call),
    lookup: guardedLookup(destinations, portOf(call.url)),
    // Said outright: an environment variable could turn it off for the whole process.
    rejectUnauthorized: true,
  };
  return isTls ? httpsRequest(call.url, options) : httpRequest(call.url, options);
}

async function exchange<Answer>(
  call: OutboundCall,
  start: () => ClientRequest,
  use: UseAnswer<Answer>,
): Promise<Answer | Failed> {
  if (call.signal?.aborted === true) return { ok: false, problem: problem('stopped', 'it was told to stop') };
  const patience = new Patience({ ...DEFAULT_TIMES, ...call.times });
  const request = start();
  const stop = (): void => void request.destroy(patience.stopped());
  call.signal?.addEventListener('abort', stop, { once: true });
  patience.watch(request);
  try {
    const response = answerOf(request);
    const failed = send(request, call, patience).then(
      () => new Promise<never>(() => undefined),
      (error: unknown) => lastWords(error),
    );
    return await use(await Promise.race([response, failed]), call, patience);
  } catch (error) {
    // What was to be sent is damaged: that is not the other side's doing.
    if (error instanceof LonghaulError) throw error;
    return { ok: false, problem: failedCall(error, patience) };
  } finally {
    call.signal?.removeEventListener('abort', stop);
    patience.end();
    if (!request.writableFinished) request.destroy();
  }
}

/** Whoever refuses before all is sent hangs up on the rest: its answer may be a moment behind. */
async function lastWords(error: unknown): Promise<never> {
  if (!(error instanceof LonghaulError)) await sleep(LAST_WORDS_MS);
  throw error;
}

function headersOf({ headers = {}, body }: OutboundCall): Record<string, string | number> {
  const length = body === undefined ? null : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  return { 'accept-encoding': 'identity', ...headers, ...(length !== null && { 'content-length': length }) };
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', reject);
  });
}

async function send(request: ClientRequest, { body, signal }: OutboundCall, patience: Patience): Promise<void> {
  if (typeof body === 'object') await sendStream(request, { body, signal, patience });
  else request.end(body);
  patience.sent();
}

async function sendStream(
  request: ClientRequest,
  { body, signal, patience }: { body: UploadBody; signal: AbortSignal | undefined; patience: Patience },
): Promise<void> {
  await patience.connected;
  const source = await body.open();
  const onPiece = (bytes: number): void => {
    patience.moved();
    body.onSent?.(bytes);
  };
  const pieces = paced(source, { pacer: body.pacer, signal, onPiece });
  await pipeline(pieces, request, { end: true });
}

async function read(response: IncomingMessage, call: OutboundCall, patience: Patience): Promise<OutboundAnswer> {
  const { maxAnswerBytes = DEFAULT_ANSWER_BYTES } = call;
  const { statusCode: status = 0, headers } = response;
  patience.answered();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes)
      return { ok: false, problem: problem('too-large', `it answered more than ${maxAnswerBytes} bytes`) };
    chunks.push(chunk);
  }
  if (status >= 300 && status < 400)
    return { ok: false, problem: problem('redirected', `it answered ${status}, a redirect, which is not followed`) };
  return { ok: true, status, headers, body: Buffer.concat(chunks) };
}

async function open(response: IncomingMessage, { signal, times }: OutboundCall): Promise<OutboundOpened> {
  const { statusCode: status = 0, headers } = response;
  if (signal !== undefined) addAbortSignal(signal, response);
  response.setTimeout(times?.idleMs ?? DEFAULT_TIMES.idleMs, () => response.destroy(new Error('nothing more came')));
  return { ok: true, status, headers, body: response };
}
