/**
 * The HTTP client for addresses that users supply: relays and webhooks. No other code calls such addresses.
 *
 * Invariant: no connection is made to a private address that `allowDestinations` does not list. Each connection is
 * checked when it is made. Redirects are returned, never followed. Answers have a maximum size, every step has a time
 * limit, and TLS is always verified. The client never resends a request.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { addAbortSignal } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../core/ports/errors.ts';
import { CallTimer, STOPPED } from './call-timer.ts';
import type { Destinations } from './destinations.ts';
import { guardedLookup } from './guarded-lookup.ts';
import { portOf, refuseLiteralAddress } from './outbound-address.ts';
import type { OutboundAnswer, OutboundCall, OutboundOpened, OutboundProblem, UploadBody } from './outbound-call.ts';
import { DEFAULT_ANSWER_BYTES, DEFAULT_TIMES } from './outbound-call.ts';
import { failedCall, problem } from './outbound-problem.ts';
import { paced } from './pacer.ts';

export interface Outbound {
  call(call: OutboundCall): Promise<OutboundAnswer>;
  /** Returns the answer as a stream of any size; only `idleMs` limits it. */
  open(call: OutboundCall): Promise<OutboundOpened>;
  close(): void;
}

const EARLY_ANSWER_MS = 100;
/** Idle connections are closed by this side first, so that no request is sent on a connection the server is closing. */
const AGENT = { keepAlive: true, maxSockets: 32, maxFreeSockets: 8, timeout: 15_000 };

/** Opens a client. `destinations` is called for each connection, so that changed settings apply at once. */
export function openOutbound(
  destinations: () => Destinations,
  { maxSockets }: { maxSockets: number } = AGENT,
): Outbound {
  const options = { ...AGENT, maxSockets };
  const agents = { 'http:': new HttpAgent(options), 'https:': new HttpsAgent(options) };
  const make = async <Answer>(call: OutboundCall, use: UseAnswer<Answer>): Promise<Answer | Failed> => {
    const refused = refuseLiteralAddress(call.url, destinations());
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
type UseAnswer<Answer> = (response: IncomingMessage, call: OutboundCall, timer: CallTimer) => Promise<Answer>;

interface Transport {
  readonly agents: { readonly 'http:': HttpAgent; readonly 'https:': HttpsAgent };
  readonly destinations: () => Destinations;
}

function start(call: OutboundCall, { agents, destinations }: Transport): ClientRequest {
  const isTls = call.url.protocol === 'https:';
  const options: RequestOptions & { rejectUnauthorized: boolean } = {
    method: call.method,
    agent: isTls ? agents['https:'] : agents['http:'],
    headers: headersOf(call),
    lookup: guardedLookup(destinations, portOf(call.url)),
    // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED could turn it off for the whole process.
    rejectUnauthorized: true,
  };
  return isTls ? httpsRequest(call.url, options) : httpRequest(call.url, options);
}

async function exchange<Answer>(
  call: OutboundCall,
  start: () => ClientRequest,
  use: UseAnswer<Answer>,
): Promise<Answer | Failed> {
  if (call.signal?.aborted === true) return { ok: false, problem: problem('stopped', STOPPED) };
  const timer = new CallTimer({ ...DEFAULT_TIMES, ...call.times });
  const request = start();
  const stop = (): void => void request.destroy(timer.stopped());
  call.signal?.addEventListener('abort', stop, { once: true });
  timer.watch(request);
  try {
    const response = answerOf(request);
    const failed = send(request, call, timer).then(
      () => new Promise<never>(() => undefined),
      (error: unknown) => failAfterGrace(error),
    );
    return await use(await Promise.race([response, failed]), call, timer);
  } catch (error) {
    // A LonghaulError comes from the body to send (a damaged file): it is not a failure of the other side.
    if (error instanceof LonghaulError) throw error;
    return { ok: false, problem: failedCall(error, timer) };
  } finally {
    call.signal?.removeEventListener('abort', stop);
    timer.end();
    if (!request.writableFinished) request.destroy();
  }
}

/**
 * Rethrows a send error after a short wait. A server that refuses an upload early closes the connection, and its answer
 * may arrive just after the write error.
 */
async function failAfterGrace(error: unknown): Promise<never> {
  if (!(error instanceof LonghaulError)) await sleep(EARLY_ANSWER_MS);
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

async function send(request: ClientRequest, { body, signal }: OutboundCall, timer: CallTimer): Promise<void> {
  if (typeof body === 'object') await sendStream(request, { body, signal, timer });
  else request.end(body);
  timer.sent();
}

async function sendStream(
  request: ClientRequest,
  { body, signal, timer }: { body: UploadBody; signal: AbortSignal | undefined; timer: CallTimer },
): Promise<void> {
  await timer.connected;
  const source = await body.open();
  const onChunk = (bytes: number): void => {
    timer.progressed();
    body.onSent?.(bytes);
  };
  const chunks = paced(source, { pacer: body.pacer, signal, onChunk });
  await pipeline(chunks, request, { end: true });
}

async function read(response: IncomingMessage, call: OutboundCall, timer: CallTimer): Promise<OutboundAnswer> {
  const { maxAnswerBytes = DEFAULT_ANSWER_BYTES } = call;
  const { statusCode: status = 0, headers } = response;
  timer.answered();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxAnswerBytes)
      return { ok: false, problem: problem('too-large', `the answer has more than ${maxAnswerBytes} bytes`) };
    chunks.push(chunk);
  }
  if (status >= 300 && status < 400)
    return { ok: false, problem: problem('redirected', `the answer is a redirect (${status}), which is not followed`) };
  return { ok: true, status, headers, body: Buffer.concat(chunks) };
}

async function open(response: IncomingMessage, { signal, times }: OutboundCall): Promise<OutboundOpened> {
  const { statusCode: status = 0, headers } = response;
  if (signal !== undefined) addAbortSignal(signal, response);
  response.setTimeout(times?.idleMs ?? DEFAULT_TIMES.idleMs, () => response.destroy(new Error('the answer stalled')));
  return { ok: true, status, headers, body: response };
}
