/**
 * Webhooks: HTTP calls that report events of a job. This module decides which events are reported. Each call is stored
 * in the same step as its event, as a job of the system queue `hooks` (operations/outbox.ts), and a node makes the
 * call.
 *
 *     claimed ──▶ start    a step of progress ──▶ progress    done, failed, cancelled ──▶ each by its name
 *     suspended until an event ──▶ waiting
 *     silent, slow ──▶ detected by the node that runs or watches the job, and added like any job
 *
 * Pure. Invariant: the data of a webhook job consist of names and numbers, never of free text: Lua writes the same
 * bytes.
 */
import type { HistoryRow } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import type { Suspension } from '../job/step.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { QueueSettings } from '../settings/settings.ts';

export const WEBHOOKS_QUEUE = 'hooks';
/** Reserved: no producer's id begins with it. Such a job was written by a store or a node. */
export const WEBHOOK_ID_PREFIX = 'hook~';

export const WEBHOOK_EVENTS = [
  'start',
  'progress',
  'silent',
  'slow',
  'waiting',
  'done',
  'failed',
  'cancelled',
] as const;
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

export interface Webhook {
  readonly url: string;
  readonly on: readonly WebhookEventName[];
  /** The name of the secret to sign with. Default: `default`. */
  readonly secret?: string;
  /** With `progress`: the size of a step, in percent. */
  readonly every?: number;
  /** With `silent`: for how long. */
  readonly silentMs?: number;
  /** RQ's own format, unsigned, for messages of compat/rq. */
  readonly format?: 'rq';
}

/**
 * The form of an address: it is part of keys, and of texts that Lua assembles, so it has no quotes and no backslash.
 */
export const WEBHOOK_URL = /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]{1,790}$/;
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

export const DEFAULT_PROGRESS_STEP = 25;

/** An event of a job that webhooks report. */
export interface WebhookEvent {
  readonly event: WebhookEventName;
  readonly at: number;
  readonly percent?: number;
}

/** The data of a webhook job, in this order. */
export interface WebhookRequest extends WebhookEvent {
  readonly job: string;
  readonly queue: string;
  readonly attempt: number;
  readonly url: string;
  readonly secret?: string;
  readonly format?: 'rq';
}

const NONE: readonly Webhook[] = [];

/** Returns the webhooks of a job and of its queue. A webhook job has none itself. */
export function webhooksOf(
  { queue, policy }: Pick<Job, 'queue' | 'policy'>,
  settings: QueueSettings,
): readonly Webhook[] {
  if (queue === WEBHOOKS_QUEUE) return NONE;
  return policy.hooks === undefined ? settings.hooks : [...policy.hooks, ...settings.hooks];
}

/**
 * Returns the event of a history row. A change of an ended job is not a second end. An event that arrived before the job
 * was suspended is not waited for.
 */
export function webhookEventOf(
  { suspension }: Pick<Job, 'suspension'>,
  { event, state, at }: HistoryRow,
): WebhookEvent | null {
  if (event === 'claimed') return { event: 'start', at };
  if (event === 'suspended') return waitsForEvent(suspension, at) ? { event: 'waiting', at } : null;
  const isEnd = (state === 'done' || state === 'failed' || state === 'cancelled') && event !== 'changed';
  return isEnd ? { event: state, at } : null;
}

function waitsForEvent(suspension: Suspension | null, now: number): boolean {
  return suspension !== null && suspension.event !== null && (suspension.until === null || suspension.until > now);
}

/** Returns the progress step that was reached, in percent, or null if it was reached before. */
export function stepReached(before: number | null, after: number | null, every: number): number | null {
  const [from, to] = [Math.floor((before ?? 0) / every), Math.floor((after ?? 0) / every)];
  return to > from ? to * every : null;
}

const MAX_ID_PART = 80;

/** Shortens an id that is part of another id. A shortened id is unique by its insertion number. */
function shortId({ id, seq }: Pick<Job, 'id' | 'seq'>): string {
  return id.length <= MAX_ID_PART ? id : `${id.slice(0, MAX_ID_PART - 17)}~${seq}`;
}

/** Returns the id for an event that happens once at a time: a second one of the same name gets a number appended. */
export function eventId(job: Pick<Job, 'id' | 'seq'>, { event, at }: WebhookEvent): string {
  return `${WEBHOOK_ID_PREFIX}${event}~${Math.floor(at)}~${shortId(job)}`;
}

/**
 * Returns the id for an event that is reported once in an attempt, however often it is detected. `place`: index of the
 * webhook.
 */
export function onceEventId(job: Pick<Job, 'id' | 'seq' | 'attempt'>, name: string, index: number): string {
  return `${WEBHOOK_ID_PREFIX}${name}~${job.attempt}.${index}~${shortId(job)}`;
}

/** Creates the job of a call: it follows the earlier calls about this job to this address, whatever became of those. */
export function webhookJob(
  job: Pick<Job, 'id' | 'queue' | 'attempt'>,
  webhook: Webhook,
  webhookEvent: WebhookEvent,
  id: string,
): NewJob {
  const { url, secret, format } = webhook;
  const request: WebhookRequest = {
    event: webhookEvent.event,
    job: job.id,
    queue: job.queue,
    attempt: job.attempt,
    at: webhookEvent.at,
    ...(webhookEvent.percent !== undefined && { percent: webhookEvent.percent }),
    url,
    ...(secret !== undefined && { secret }),
    ...(format !== undefined && { format }),
  };
  return {
    id,
    queue: WEBHOOKS_QUEUE,
    name: job.id,
    data: JSON.stringify(request),
    policy: { onDependencyFailed: 'run' },
    unique: { key: `${job.id} ${url}`, scope: 'queue', until: 'ended', periodMs: 0 },
    onTaken: { kind: 'follow', maxWaitMs: null },
  };
}
