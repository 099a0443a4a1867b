/**
 * A job for a queue of another node. Its destination is an address, `http://host:3333/q/<queue>`; what is stored here is
 * a job of the built-in queue `relay` whose data say where to, and hold the job as it shall be there.
 *
 *     { "to": "http://b:3333/q/mail", "data": …, "job": { name, priority, tags, policy }, "forceRemote": true }
 *
 * A message of RQ's (an object with `dest`) is an order, too. Pure: nothing here looks a name up or calls anybody.
 */

import { toJsonText } from '../input/json.ts';
import { badInput } from '../ports/errors.ts';
import type { NewJob } from '../ports/job-store.ts';
import { HOOKS_QUEUE } from '../webhooks/webhook.ts';
import type { JobPolicy } from './job.ts';

export const RELAY_QUEUE = 'relay';
export const ROUTER_QUEUE = 'rq_router';
/** Queues that a node works by itself. A file of that name configures it and names no script. */
export const BUILT_IN_QUEUES: readonly string[] = [RELAY_QUEUE, ROUTER_QUEUE, HOOKS_QUEUE];

export interface RelayDestination {
  /** Base address of the other node, with a slash at its end. */
  readonly base: string;
  readonly queue: string;
}

/** What the job is to be like there, as far as its producer said. */
export interface RelayedShape {
  readonly name?: string;
  readonly priority?: number;
  readonly tags?: readonly string[];
  readonly policy?: JobPolicy;
}

export interface RelayOrder {
  /** As it was given: an address, or for a router also the name of a queue. */
  readonly to: string;
  readonly data: unknown;
  readonly job: RelayedShape;
  /** Over the network even where the address is this node's own. */
  readonly forceRemote: boolean;
  /** The address of the job that it began as; null: this one. */
  readonly origin: string | null;
  /** How many nodes have handed it on. */
  readonly hops: number;
}

const ADDRESS = /^(https?:\/\/[^\s/?#]+\/(?:[^\s?#]*\/)?)q\/([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})\/?$/i;

export function isAddress(destination: string): boolean {
  return /^https?:/i.test(destination);
}

/** Null: it is no address of a queue. */
export function parseDestination(address: string): RelayDestination | null {
  const [, base, queue] = ADDRESS.exec(address) ?? [];
  return base === undefined || queue === undefined || /\.(json|txt)$/.test(queue) ? null : { base, queue };
}

/** The same for whoever gives one: throws `bad-input` in words. */
export function checkDestination(address: string): string {
  if (parseDestination(address) !== null) return address;
  const message = 'must be an address such as http://host:3333/q/queue';
  throw badInput('queue', [{ path: '', message }]);
}

export type NewOrder = Pick<RelayOrder, 'to' | 'data'> & Partial<RelayOrder>;

/** Its data as the queue `relay` keeps them. Throws `bad-input` where they have no room with the address. */
export function orderText({ to, data, job = {}, forceRemote = false, origin = null, hops = 0 }: NewOrder): string {
  return toJsonText('data', {
    to,
    ...(forceRemote && { forceRemote }),
    ...(origin !== null && { origin }),
    ...(hops > 0 && { hops }),
    ...(Object.keys(job).length > 0 && { job }),
    data,
  });
}

/** A job whose queue is an address, as one of the queue `relay`: its policy is for there, its time and its key for here. */
export function relayJob(
  { queue, data, policy, priority, ...rest }: NewJob,
  how: Partial<Pick<RelayOrder, 'forceRemote' | 'origin' | 'hops'>> = {},
): NewJob {
  const { name, tags } = rest;
  const job = {
    ...(name !== undefined && { name }),
    ...(priority !== undefined && { priority }),
    ...(tags !== undefined && { tags }),
    ...(policy !== undefined && { policy }),
  };
  const to = checkDestination(queue);
  return { ...rest, queue: RELAY_QUEUE, data: orderText({ ...how, to, data: JSON.parse(data) as unknown, job }) };
}

/** What a job's data order; null when they order nothing. */
export function readOrder(data: string): RelayOrder | null {
  const given: unknown = JSON.parse(data);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const fields = given as Readonly<Record<string, unknown>>;
  if (typeof fields['to'] === 'string' && 'data' in fields) return ownOrder(fields['to'], fields);
  return typeof fields['dest'] === 'string' ? rqOrder(fields['dest'], fields) : null;
}

function ownOrder(to: string, fields: Readonly<Record<string, unknown>>): RelayOrder {
  const { job, data, forceRemote, origin, hops } = fields;
  return {
    to,
    data,
    job: typeof job === 'object' && job !== null ? (job as RelayedShape) : {},
    forceRemote: forceRemote === true,
    origin: typeof origin === 'string' ? origin : null,
    hops: typeof hops === 'number' && hops > 0 ? hops : 0,
  };
}

/** RQ's message travels as it is: who gets it finds its parameters and where it came from. */
function rqOrder(to: string, fields: Readonly<Record<string, unknown>>): RelayOrder {
  const { orig_msg_id: origin, force_remote: force } = fields;
  return {
    to,
    data: fields,
    job: {},
    forceRemote: force === true || force === 1 || force === '1' || force === 'true' || force === 'yes',
    origin: typeof origin === 'string' && origin !== '' ? origin : null,
    hops: 0,
  };
}
