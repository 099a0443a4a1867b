/**
 * RQ's `dup`: a script asks for a copy of its job, with its attachments, in another queue.
 *
 * The copy's id is made of the job, the attempt and the place of the line, so that a line that is read again after a
 * restart finds its copy instead of making another.
 */

import { LonghaulError } from '../core/errors.ts';
import type { RunningJob } from '../core/job.ts';
import type { QueueSettings } from '../core/settings.ts';
import { QUEUE_RECORD, settingsOf } from '../core/settings.ts';
import { checkQueueName } from '../core/settings-input.ts';
import type { Store } from '../core/store.ts';
import type { Attachments } from './attachments.ts';
import type { NodeSettings } from './node-settings.ts';
import { addressOf } from './script-environment.ts';

export interface DupRequest {
  readonly job: RunningJob;
  readonly dest: string;
  readonly delayMs: number;
  /** Where the line stands in what the script said. */
  readonly at: number;
}

export interface Duplicator {
  readonly store: Store;
  readonly attachments: Attachments;
  readonly node: NodeSettings;
  /** Queues that this node knows by their files. */
  hasQueue(name: string): boolean;
}

const RELAY_QUEUE = 'relay';

/** The line for the script's fd 4: `ok <full id>` or `fail <reason>`. */
export async function duplicate(host: Duplicator, request: DupRequest): Promise<string> {
  const queue = queueFor(request.dest, host.node);
  try {
    checkQueueName(queue);
    const problem = await problemOf(host, queue);
    if (problem !== null) return `fail ${problem}`;
    return await copyInto(host, queue, request);
  } catch (error) {
    const words = error instanceof LonghaulError ? error.message : String(error);
    return `fail dup failed - ${words.replaceAll('\n', ' ')}`;
  }
}

/** A full address under one of this node's own names is a queue of its own. */
function queueFor(dest: string, node: NodeSettings): string {
  if (!/^https?:/.test(dest)) return dest.replace(/^\/q\//, '');
  const base = [node.url, ...node.aliases].find((url) => dest.startsWith(`${url}q/`));
  return base === undefined ? RELAY_QUEUE : dest.slice(`${base}q/`.length).replace(/\/$/, '');
}

async function problemOf(host: Duplicator, queue: string): Promise<string | null> {
  const record = await host.store.records.get(QUEUE_RECORD, queue);
  if (record === null && !host.hasQueue(queue)) return `couldn't connect to queue - ${queue}`;
  const { state } = settingsOf(record === null ? undefined : (JSON.parse(record.value) as Partial<QueueSettings>));
  return state === 'up' ? null : `dup failed - queue ${queue} is ${state}`;
}

async function copyInto(host: Duplicator, queue: string, { job, delayMs, at, dest }: DupRequest): Promise<string> {
  const id = `${job.id}~${job.attempt}.${at}`.slice(-128);
  const data = copyOfMessage(job, host.node, dest);
  const [added] = await host.store.jobs.add([
    { id, queue, data, delayMs, draft: true, policy: job.policy, tags: job.tags },
  ]);
  if (added === undefined || !added.ok) return `fail dup failed - ${added?.refusal.message ?? 'no answer'}`;
  await host.attachments.copy(job.id, id);
  const [committed] = await host.store.jobs.commit([id]);
  if (committed === undefined || !committed.ok) return `fail dup failed - ${committed?.refusal.message ?? 'no answer'}`;
  return `ok ${addressOf({ queue, id }, host.node)}`;
}

/** The same message with a new destination, that remembers where it came from. */
function copyOfMessage(job: RunningJob, node: NodeSettings, dest: string): string {
  const data: unknown = JSON.parse(job.data);
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return job.data;
  return JSON.stringify({ orig_msg_id: addressOf(job, node), ...data, dest });
}
