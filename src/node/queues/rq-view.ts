/**
 * A job as RQ's clients and webhooks read it: its record under RQ's names. Contains no rules.
 *
 *     prep ─ draft    que ─ waiting    run ─ running    done, relayed ─ done    err ─ failed, cancelled
 */
import type { Job } from '../../core/job/job.ts';
import { RELAY_QUEUE } from '../../core/job/relay-request.ts';
import { LOOP_TO_ORIGIN } from '../relay/relay-loop.ts';

export type RqState = 'prep' | 'que' | 'run' | 'done' | 'relayed' | 'err';
export const RQ_STATES: readonly RqState[] = ['prep', 'que', 'run', 'done', 'relayed', 'err'];

export const DEFAULT_MAX_COUNT = 15;
/** The failure group of a job that was resent too often. */
const RESEND_LIMIT_GROUP = 'resends';

export function rqStateOf({ state, forwardedTo }: Job): RqState {
  switch (state) {
    case 'draft':
      return 'prep';
    case 'waiting':
      return 'que';
    case 'running':
      return 'run';
    case 'done':
      return forwardedTo === null ? 'done' : 'relayed';
    default:
      return 'err';
  }
}

/**
 * Returns RQ's status, such as `run - half of it`: the state and the last status text. `url` is the node's base URL, for
 * the full id of the message that a coalesced one is done with.
 */
export function statusOf(job: Job, url: string): string {
  const text = statusText(job, url);
  return text === '' ? rqStateOf(job) : `${rqStateOf(job)} - ${text}`;
}

function statusText(job: Job, url: string): string {
  const { state, failure, forwardedTo, progress, result } = job;
  const duplicated = duplicateOf(job, url);
  if (duplicated !== null) return `duplicate ${duplicated}`;
  if (state === 'cancelled') return 'cancelled';
  if (state === 'failed') return rqTextOf(failure);
  return forwardedTo ?? (state === 'done' ? resultStatus(result) : null) ?? progress?.text ?? '';
}

/** Two failures that Longhaul describes in its own words have RQ's texts. */
function rqTextOf(failure: Job['failure']): string {
  if (failure === null) return '';
  if (failure.group === RESEND_LIMIT_GROUP) return 'HIT MAX RESEND COUNT - MOVING TO ERR';
  if (failure.message.startsWith(LOOP_TO_ORIGIN)) return 'Relay loop detected: RQ_DEST queue same as RQ_ORIG_MSG_ID';
  return failure.message;
}

/** Returns the full id of the message that this one was coalesced into, or null. */
function duplicateOf({ queue, foldedInto }: Job, url: string): string | null {
  return foldedInto === null ? null : `${url}q/${queue}/${foldedInto}`;
}

/** A script without a result leaves its last status text as the result. */
function resultStatus(result: string | null): string | null {
  const value: unknown = JSON.parse(result ?? 'null');
  const hasStatus = typeof value === 'object' && value !== null && 'status' in value;
  return hasStatus && typeof value.status === 'string' ? value.status : null;
}

/** Whether the job failed because it was resent too often. RQ counts the resend that it refused. */
function hitLimit({ state, failure }: Job): boolean {
  return state === 'failed' && failure?.group === RESEND_LIMIT_GROUP;
}

/** Returns the fields of the message that RQ stores. */
export function messageFields(job: Job) {
  const data = messageIn(job);
  return {
    ...data,
    msg_id: job.id,
    dest: data['dest'] ?? job.queue,
    count: countOf(job) + (hitLimit(job) ? 1 : 0),
    max_count: maxCountOf(job),
    due: Math.floor(job.runAt / 1_000),
  };
}

export interface MessageContext {
  /** The node's base URL, with a slash at its end. */
  readonly url: string;
  readonly path: string;
  readonly attachments: Readonly<Record<string, unknown>>;
}

/** Returns the job as an RQ message. */
export function messageOf(job: Job, more: MessageContext) {
  const duplicated = duplicateOf(job, more.url);
  return {
    ...messageFields(job),
    state: rqStateOf(job),
    status: statusOf(job, more.url),
    ...(duplicated !== null && { dup: duplicated }),
    path: more.path,
    ...(Object.keys(more.attachments).length > 0 && { _attachments: more.attachments }),
  };
}

/** Returns the message of a job. A relay request of Longhaul holds it beside its destination. */
function messageIn(job: Job): Readonly<Record<string, unknown>> {
  const data = dataOf(job);
  const { to, origin, data: message } = data;
  if (job.queue !== RELAY_QUEUE || typeof to !== 'string' || typeof message !== 'object' || message === null)
    return data;
  return { ...message, dest: to, ...(typeof origin === 'string' && { orig_msg_id: origin }) };
}

/** Returns RQ's count: the relays and resends before the message came here, and its resends here. */
export function countOf(job: Pick<Job, 'data' | 'resends'>): number {
  return (numberIn(dataOf(job), 'count') ?? 0) + job.resends;
}

function maxCountOf(job: Pick<Job, 'data' | 'policy'>): number {
  const data = dataOf(job);
  const { maxResends } = job.policy;
  const limit = maxResends === undefined ? DEFAULT_MAX_COUNT : (numberIn(data, 'count') ?? 0) + maxResends + 1;
  return numberIn(data, 'max_count') ?? limit;
}

/** Only in a message, which has a `dest`: other data may use these names for something else. */
function numberIn(data: Readonly<Record<string, unknown>>, name: 'count' | 'max_count'): number | null {
  const value = typeof data['dest'] === 'string' ? data[name] : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Data that are not a JSON object are returned under `data`. */
export function dataOf({ data }: Pick<Job, 'data'>): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(data);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return value === null ? {} : { data: value };
}
