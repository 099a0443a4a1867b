/**
 * A job for a queue of another node. Its destination is an address, `http://host:3333/q/<queue>`. This store keeps it
 * as a job of the system queue `relay`, whose data hold the destination and the job to create there:
 *
 *     { "to": "http://b:3333/q/mail", "data": …, "job": { name, priority, tags, policy }, "forceRemote": true }
 *
 * A message of RQ (an object with `dest`) is a relay request too. Pure: this module resolves no name and makes no call.
 */

import { toJsonText } from '../input/json.ts';
import { badInput } from '../ports/errors.ts';
import type { NewJob } from '../ports/job-store.ts';
import { WEBHOOKS_QUEUE } from '../webhooks/webhook.ts';
import type { JobPolicy } from './job.ts';

export const RELAY_QUEUE = 'relay';
export const ROUTER_QUEUE = 'rq_router';
/**
 * System queues, which a node runs itself. A queue file of such a name only configures the queue; it names no script.
 */
export const SYSTEM_QUEUES: readonly string[] = [RELAY_QUEUE, ROUTER_QUEUE, WEBHOOKS_QUEUE];

export interface RelayDestination {
  /** Base address of the other node, with a slash at its end. */
  readonly base: string;
  readonly queue: string;
}

/** Options of the job on the other node, as far as its producer gave them. */
export interface RelayedJobOptions {
  readonly name?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly policy?: JobPolicy;
}

export interface RelayRequest {
  /** As given: an address, or, for a router, the name of a queue. */
  readonly to: string;
  readonly data: unknown;
  readonly job: RelayedJobOptions;
  /** Sends the job over the network even if the address is this node's own. */
  readonly forceRemote: boolean;
  /** The address of the original job; null if this job is the original. */
  readonly origin: string | null;
  /** How many nodes have relayed the job so far. */
  readonly hops: number;
  /** Whether the job itself is a message of RQ: its own options are those of the message. */
  readonly isMessage: boolean;
}

const ADDRESS = /^(https?:\/\/[^\s/?#]+\/(?:[^\s?#]*\/)?)q\/([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})\/?$/i;

export function isAddress(destination: string): boolean {
  return /^https?:/i.test(destination);
}

/** Returns null if the text is not the address of a queue. */
export function parseDestination(address: string): RelayDestination | null {
  const [, base, queue] = ADDRESS.exec(address) ?? [];
  return base === undefined || queue === undefined || /\.(json|txt)$/.test(queue) ? null : { base, queue };
}

/** Checks an address that a caller gave. Throws `bad-input` if it is not the address of a queue. */
export function checkDestination(address: string): string {
  if (parseDestination(address) !== null) return address;
  const message = 'must be an address such as http://host:3333/q/queue';
  throw badInput('queue', [{ path: '', message }]);
}

export type NewRelayRequest = Pick<RelayRequest, 'to' | 'data'> & Partial<RelayRequest>;

/**
 * Returns the data of the job in the queue `relay`. Throws `bad-input` if address and data together exceed the limit.
 */
export function relayRequestText({
  to,
  data,
  job = {},
  forceRemote = false,
  origin = null,
  hops = 0,
}: NewRelayRequest): string {
  return toJsonText('data', {
    to,
    ...(forceRemote && { forceRemote }),
    ...(origin !== null && { origin }),
    ...(hops > 0 && { hops }),
    ...(Object.keys(job).length > 0 && { job }),
    data,
  });
}

/**
 * Turns a job whose queue is an address into a job of the queue `relay`. Its policy applies on the other node; its run
 * time and its unique key apply here.
 */
export function relayJob(
  { queue, data, policy, priority, ...rest }: NewJob,
  how: Partial<Pick<RelayRequest, 'forceRemote' | 'origin' | 'hops'>> = {},
): NewJob {
  const { name, tags } = rest;
  const job = {
    ...(name !== undefined && { name }),
    ...(priority !== undefined && { priority }),
    ...(tags !== undefined && { tags }),
    ...(policy !== undefined && { policy }),
  };
  const to = checkDestination(queue);
  const traceparent = policy?.traceparent;
  return {
    ...rest,
    ...(traceparent !== undefined && { policy: { traceparent } }),
    queue: RELAY_QUEUE,
    data: relayRequestText({ ...how, to, data: JSON.parse(data) as unknown, job }),
  };
}

/** Returns the relay request in a job's data, or null if there is none. */
export function readRelayRequest(data: string): RelayRequest | null {
  const given: unknown = JSON.parse(data);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const fields = given as Readonly<Record<string, unknown>>;
  if (typeof fields['to'] === 'string' && 'data' in fields) return ownRequest(fields['to'], fields);
  return typeof fields['dest'] === 'string' ? rqRequest(fields['dest'], fields) : null;
}

function ownRequest(to: string, fields: Readonly<Record<string, unknown>>): RelayRequest {
  const { job, data, forceRemote, origin, hops } = fields;
  return {
    to,
    data,
    job: typeof job === 'object' && job !== null ? (job as RelayedJobOptions) : {},
    forceRemote: forceRemote === true,
    origin: typeof origin === 'string' ? origin : null,
    hops: typeof hops === 'number' && hops > 0 ? hops : 0,
    isMessage: false,
  };
}

/**
 * An RQ message is relayed whole: the receiver finds its parameters and its origin in it. Only `force_remote` is meant for
 * this relay alone.
 */
function rqRequest(to: string, fields: Readonly<Record<string, unknown>>): RelayRequest {
  const { force_remote: force, ...message } = fields;
  const { orig_msg_id: origin } = message;
  return {
    to,
    data: message,
    job: {},
    forceRemote: force === true || force === 1 || force === '1' || force === 'true' || force === 'yes',
    origin: typeof origin === 'string' && origin !== '' ? origin : null,
    hops: 0,
    isMessage: true,
  };
}
