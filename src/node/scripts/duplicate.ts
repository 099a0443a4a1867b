/**
 * RQ's `dup`: copies a job with its attachments to another queue at the request of its script.
 *
 * The copy's id is derived from the job, the attempt and the position of the line. A line that is read again after a
 * restart finds its copy instead of creating another.
 */

import type { RunningJob } from '../../core/job/job.ts';
import { isAddress, RELAY_QUEUE, readRelayRequest, relayRequestText } from '../../core/job/relay-request.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import { checkQueueName } from '../../core/settings/settings-input.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import { copyJob } from '../../files/attachments/copy-job.ts';
import type { NodeSettings } from '../node-settings.ts';
import type { QueueIntake } from '../queues/queue-intake.ts';
import { intakeOf } from '../queues/queue-intake.ts';
import { recallRelayed } from '../relay/relay-memory.ts';
import { addressOf } from './script-environment.ts';

export interface DupRequest {
  readonly job: RunningJob;
  readonly dest: string;
  readonly delayMs: number;
  /** Position of the line in the script's reports. */
  readonly at: number;
}

export interface Duplicator extends QueueIntake {
  readonly attachments: Attachments;
  readonly node: NodeSettings;
}

/** Returns the answer for the script's fd 4: `ok <full id>` or `fail <reason>`. */
export async function duplicate(host: Duplicator, request: DupRequest): Promise<string> {
  const queue = queueFor(request.dest);
  try {
    checkQueueName(queue);
    const problem = await problemOf(host, queue);
    if (problem !== null) return `fail ${problem}`;
    return await copyInto(host, queue, request);
  } catch (error) {
    const message = error instanceof LonghaulError ? error.message : String(error);
    return `fail dup failed - ${message.replaceAll('\n', ' ')}`;
  }
}

/** A URL goes to the queue relay, as in RQ, even if it is this node's: the relay delivers it here. */
function queueFor(dest: string): string {
  return isAddress(dest) ? RELAY_QUEUE : dest.replace(/^\/q\//, '');
}

async function problemOf(host: Duplicator, queue: string): Promise<string | null> {
  const state = await intakeOf(host, queue);
  if (state === 'unknown') return `couldn't connect to queue - ${queue}`;
  return state === 'open' ? null : `dup failed - queue ${queue} is ${state}`;
}

async function copyInto(host: Duplicator, queue: string, { job, delayMs, at, dest }: DupRequest): Promise<string> {
  const id = `${job.id}~${job.attempt}.${at}`.slice(-128);
  const data = copyOfMessage(job, host.node, dest);
  const { policy, tags } = job;
  const copy =
    queue === RELAY_QUEUE && isAddress(dest)
      ? { id, queue, data: await relayDataFor(host, job, { to: dest, data }), delayMs, tags }
      : { id, queue, data, delayMs, policy, tags };
  await copyJob(host, job.id, copy);
  return `ok ${addressOf({ queue, id }, host.node)}`;
}

/** A job that arrived by relay keeps its origin and its number of hops. */
async function relayDataFor(
  host: Duplicator,
  job: RunningJob,
  { to, data }: { to: string; data: string },
): Promise<string> {
  const { policy, tags, name } = job;
  const came = await recallRelayed(host.store.records, job.id);
  const message: unknown = JSON.parse(data);
  const rq = readRelayRequest(data);
  return relayRequestText({
    to,
    data: message,
    job: { policy, tags, ...(name !== null && { name }) },
    origin: came?.origin ?? rq?.origin ?? addressOf(job, host.node),
    hops: came?.hops ?? 0,
    forceRemote: rq?.forceRemote ?? false,
  });
}

/** Returns the message with a new destination and its original id. Its count begins again, as in RQ. */
function copyOfMessage(job: RunningJob, node: NodeSettings, dest: string): string {
  const data: unknown = JSON.parse(job.data);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return job.data;
  const { count, ...message } = data as { readonly count?: unknown; readonly dest?: unknown };
  const kept = message.dest === undefined && count !== undefined ? { count } : {};
  return JSON.stringify({ orig_msg_id: addressOf(job, node), ...message, ...kept, dest });
}
