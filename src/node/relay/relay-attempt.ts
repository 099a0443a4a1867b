/**
 * One attempt to relay a job: destination, transport, and outcome.
 *
 *     no destination, or a loop ──▶ failed for good
 *     our own address ──▶ added here, by the same steps without a network
 *     a node, or an RQ host ──▶ sent ──▶ done, with its new address; or retried later
 */
import { createHash } from 'node:crypto';
import type { RunningJob } from '../../core/job/job.ts';
import type { RelayDestination, RelayedJobOptions, RelayRequest } from '../../core/job/relay-request.ts';
import { isAddress, parseDestination, readRelayRequest } from '../../core/job/relay-request.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import type { Outbound } from '../../outbound/outbound.ts';
import type { AttemptContext, AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import type { NodeSettings } from '../node-settings.ts';
import { baseOf } from '../outbound-settings.ts';
import { addressOf } from '../scripts/script-environment.ts';
import type { Pacers } from './pacers.ts';
import type { Peer } from './peer.ts';
import type { PeerKinds } from './peer-kind.ts';
import { RelayFailure } from './relay-failure.ts';
import { isLoop, loopMessage } from './relay-loop.ts';
import type { RelayedJob } from './relay-messages.ts';
import type { RelayReceiver } from './relay-receiver.ts';
import { sendJob } from './send-job.ts';
import { sendToRq } from './send-to-rq.ts';

export interface RelayHost {
  readonly attachments: Attachments;
  readonly receiver: RelayReceiver;
  readonly settings: NodeSettings;
  readonly outbound: Outbound;
  readonly kinds: PeerKinds;
  readonly pacers: Pacers;
  /** The identity of this node's store. */
  readonly source: string;
}

export async function relayAttempt(host: RelayHost, job: RunningJob, context: AttemptContext): Promise<AttemptOutcome> {
  try {
    return { kind: 'forward', address: await deliver(host, job, context) };
  } catch (error) {
    if (!(error instanceof RelayFailure)) throw error;
    // The worker knows why it was aborted, and what that means.
    if (error.code === 'stopped') return { kind: 'release', reason: 'its node stops' };
    const failure = { group: `relay: ${error.code}`, message: error.message, detail: null };
    return { kind: 'fail', failure, ...(error.isFinal && { final: true }) };
  }
}

interface Delivery {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly to: RelayDestination;
  readonly id: string;
  readonly relayed: RelayedJob;
}

/** Returns the job's new address. */
async function deliver(host: RelayHost, job: RunningJob, context: AttemptContext): Promise<string> {
  const order = orderOf(job);
  const to = destinationOf(order);
  const relayed = relayedBy(host, job, { order, to });
  const delivery = { job, context, to, id: relayId(job.id, host.source), relayed };
  const own = [host.settings.url, ...host.settings.aliases].map(baseOf);
  if (own.includes(to.base) && !order.forceRemote) return deliverHere(host, delivery);
  return send(host, delivery);
}

function orderOf(job: RunningJob): RelayRequest {
  const order = readRelayRequest(job.data);
  if (order !== null && isAddress(order.to)) return order;
  const message = 'its data contain no destination: { "to": "http://host:3333/q/queue", "data": … }';
  throw new RelayFailure('no-destination', message);
}

function destinationOf({ to }: RelayRequest): RelayDestination {
  const found = parseDestination(to);
  if (found !== null && URL.canParse(found.base)) return { ...found, base: baseOf(found.base) };
  throw new RelayFailure('bad-address', `${to.slice(0, 200)} is not a queue address such as http://host:3333/q/queue`);
}

function relayedBy(
  { settings, source }: RelayHost,
  job: RunningJob,
  { order, to }: { order: RelayRequest; to: RelayDestination },
): RelayedJob {
  const { maxHops } = settings.outbound;
  const hops = order.hops + 1;
  const origin = order.origin ?? addressOf(job, settings);
  if (hops > maxHops || isLoop(origin, `${to.base}q/${to.queue}`))
    throw new RelayFailure('loop', loopMessage({ origin, hops, maxHops }));
  // The policy of a message of RQ, such as its max_count, belongs to the message and not to the relay.
  const options = order.isMessage ? { policy: job.policy } : inTraceOf(job, order.job);
  return { queue: to.queue, data: JSON.stringify(order.data), job: options, source, origin, hops };
}

/** The job there continues the trace of the attempt that sends it. */
function inTraceOf({ policy: { traceparent } }: RunningJob, options: RelayedJobOptions): RelayedJobOptions {
  return traceparent === undefined ? options : { ...options, policy: { ...options.policy, traceparent } };
}

/** The same steps, without a network. */
async function deliverHere(host: RelayHost, { job, id, relayed }: Delivery): Promise<string> {
  const { receiver, attachments, settings } = host;
  const prepared = await receiver.prepare(id, relayed);
  if (!prepared.ok) throw refusedHere(prepared.refusal);
  if (prepared.phase === 'draft') {
    await attachments.copy(job.id, id);
    const files = (await attachments.list(job.id)).filter(({ direction }) => direction === 'in');
    const committed = await receiver.commit(id, files);
    if (!committed.ok) throw refusedHere(committed.refusal);
  }
  return addressOf({ queue: prepared.queue, id }, settings);
}

function refusedHere({ code, message }: { readonly code: string; readonly message: string }): RelayFailure {
  if (message.startsWith('relay loop')) return new RelayFailure('loop', message);
  if (code === 'not-found') return new RelayFailure('no-such-queue', message);
  return new RelayFailure(code === 'queue-down' ? 'queue-closed' : 'refused', message);
}

async function send(host: RelayHost, delivery: Delivery): Promise<string> {
  const { job, context, to, id, relayed } = delivery;
  const peer = peerAt(host, to.base, context.signal);
  const kind = await host.kinds.of(peer, host.settings.outbound.destinations.get(to.base)?.protocol ?? null);
  const files = (await host.attachments.list(job.id)).filter(({ direction }) => direction === 'in');
  const missing = await host.attachments.bring(job.id, files, context.signal);
  if (missing !== null) throw new RelayFailure('refused', missing.words);
  const onProgress = (percent: number, text: string): void => {
    context.progress(percent, text);
    context.alive();
  };
  const order = { peer, id, relayed, files, attachments: host.attachments, onProgress };
  try {
    if (kind === 'rq') return await sendToRq({ ...order, job, context });
    await sendJob(order);
    return `${to.base}q/${to.queue}/${id}`;
  } catch (error) {
    // The peer may have been replaced: detected again at the next attempt.
    if (error instanceof RelayFailure && isWrongKind(error)) await host.kinds.forget(to.base);
    throw error;
  }
}

const isWrongKind = ({ code }: RelayFailure): boolean => code === 'not-a-node' || code === 'no-such-queue';

export function peerAt(host: Omit<RelayHost, 'attachments' | 'receiver'>, base: string, signal: AbortSignal): Peer {
  const { outbound } = host.settings;
  const { timeoutMs } = outbound;
  return {
    base,
    token: outbound.destinations.get(base)?.token ?? null,
    outbound: host.outbound,
    times: { connectMs: Math.min(timeoutMs, 10_000), idleMs: timeoutMs, answerMs: timeoutMs },
    pacer: host.pacers.of(base),
    signal,
  };
}

const MAX_ID_LENGTH = 128;
const STORE_DIGITS = 12;

/**
 * The id of a relayed job at its destination: chosen by the sender, the same for the same job of the same store, and
 * different for other stores. So every step can be repeated.
 */
function relayId(id: string, store: string): string {
  const digest = createHash('sha256').update(store).digest('hex').slice(0, STORE_DIGITS);
  const whole = `${id}~${digest}`;
  if (whole.length <= MAX_ID_LENGTH) return whole;
  // After many hops, or with a long id of the producer: practically unique, and of bounded length.
  return `${createHash('sha256').update(whole).digest('hex')}~${digest}`;
}
