/**
 * Hooks: HTTP calls that tell of a job. What is told is decided here; that it is told stands in the store in the same step in
 * which it happens, as a job of the built-in queue `hooks` (operations/outbox.ts), and a node makes the call.
 *
 *     claimed ──▶ start    a step of progress ──▶ progress    done, failed, cancelled ──▶ each by its name
 *     silent, slow ──▶ seen by whoever runs or watches it, and added like any job
 *
 * Pure. Invariant: the data of a hook's job are made of names and numbers alone, never of free text: Lua writes the same bytes.
 */
import type { HistoryRow } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { QueueSettings } from '../settings/settings.ts';

export const HOOKS_QUEUE = 'hooks';
/** No producer's id begins so: what does was written by a store or a node. */
export const HOOK_ID_PREFIX = 'hook~';

export const HOOK_EVENTS = ['start', 'progress', 'silent', 'slow', 'done', 'failed', 'cancelled'] as const;
export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface Hook {
  readonly url: string;
  readonly on: readonly HookEvent[];
  /** The name of the secret to sign with; left out: `default`. */
  readonly secret?: string;
  /** With `progress`: the size of a step, in percent. */
  readonly every?: number;
  /** With `silent`: for how long. */
  readonly silentMs?: number;
  /** RQ's own shape, unsigned, for messages of its door. */
  readonly format?: 'rq';
}

/** How an address is written: it is part of keys, and of texts that Lua puts together, so it has no quotes and no backslash. */
export const HOOK_URL = /^https?:\/\/[\x21\x23-\x5b\x5d-\x7e]{1,790}$/;
export const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

export const DEFAULT_EVERY = 25;

/** What happened to a job, to be told. */
export interface HookNews {
  readonly event: HookEvent;
  readonly at: number;
  readonly percent?: number;
}

/** What the data of a hook's job say, in this order. */
export interface HookOrder extends HookNews {
  readonly job: string;
  readonly queue: string;
  readonly attempt: number;
  readonly url: string;
  readonly secret?: string;
  readonly format?: 'rq';
}

const NONE: readonly Hook[] = [];

/** Its own and its queue's. A job that is itself a call calls nobody. */
export function hooksOf({ queue, policy }: Pick<Job, 'queue' | 'policy'>, settings: QueueSettings): readonly Hook[] {
  if (queue === HOOKS_QUEUE) return NONE;
  return policy.hooks === undefined ? settings.hooks : [...policy.hooks, ...settings.hooks];
}

/** Of a row of the history. An ended job whose tags are changed has not ended again. */
export function newsOf({ event, state, at }: HistoryRow): HookNews | null {
  if (event === 'claimed') return { event: 'start', at };
  const isEnd = (state === 'done' || state === 'failed' || state === 'cancelled') && event !== 'changed';
  return isEnd ? { event: state, at } : null;
}

/** The step that progress has come to, in percent; null when it is none that it was not at before. */
export function stepReached(before: number | null, after: number | null, every: number): number | null {
  const [from, to] = [Math.floor((before ?? 0) / every), Math.floor((after ?? 0) / every)];
  return to > from ? to * every : null;
}

const MOST_OF_ID = 80;

/** An id has room for so much of another; a longer one is told from its likes by its number. */
function shortId({ id, seq }: Pick<Job, 'id' | 'seq'>): string {
  return id.length <= MOST_OF_ID ? id : `${id.slice(0, MOST_OF_ID - 17)}~${seq}`;
}

/** Of an event that there is once at a time: the next one of the same name gets a number behind it. */
export function eventId(job: Pick<Job, 'id' | 'seq'>, { event, at }: HookNews): string {
  return `${HOOK_ID_PREFIX}${event}~${Math.floor(at)}~${shortId(job)}`;
}

/** Of an event that there is once an attempt, whoever sees it and however often. `place`: of the hook among the job's. */
export function onceId(job: Pick<Job, 'id' | 'seq' | 'attempt'>, what: string, place: number): string {
  return `${HOOK_ID_PREFIX}${what}~${job.attempt}.${place}~${shortId(job)}`;
}

/** The call as a job: after the earlier ones about this job to this address, whatever became of those. */
export function hookJob(job: Pick<Job, 'id' | 'queue' | 'attempt'>, hook: Hook, news: HookNews, id: string): NewJob {
  const { url, secret, format } = hook;
  const order: HookOrder = {
    event: news.event,
    job: job.id,
    queue: job.queue,
    attempt: job.attempt,
    at: news.at,
    ...(news.percent !== undefined && { percent: news.percent }),
    url,
    ...(secret !== undefined && { secret }),
    ...(format !== undefined && { format }),
  };
  return {
    id,
    queue: HOOKS_QUEUE,
    name: job.id,
    data: JSON.stringify(order),
    policy: { onDependencyFailed: 'run' },
    unique: { key: `${job.id} ${url}`, scope: 'queue', until: 'ended', periodMs: 0 },
    onTaken: { kind: 'follow', maxWaitMs: null },
  };
}
