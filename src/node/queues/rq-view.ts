/**
 * A job as RQ's clients and webhooks read it: its record under RQ's names. Contains no rules.
 *
 *     prep ─ draft    que ─ waiting    run ─ running    done, relayed ─ done    err ─ failed, cancelled
 */
import type { Job } from '../../core/job/job.ts';

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

/** Returns RQ's status, such as `run - half of it`: the state and the last status text. */
export function statusOf(job: Job): string {
  const text = statusText(job);
  return text === '' ? rqStateOf(job) : `${rqStateOf(job)} - ${text}`;
}

function statusText(job: Job): string {
  const { state, failure, forwardedTo, progress, result, foldedInto } = job;
  if (foldedInto !== null) return `duplicate ${foldedInto}`;
  if (state === 'cancelled') return 'cancelled';
  if (state === 'failed') return hitLimit(job) ? 'HIT MAX RESEND COUNT - MOVING TO ERR' : (failure?.message ?? '');
  return forwardedTo ?? (state === 'done' ? resultStatus(result) : null) ?? progress?.text ?? '';
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
  const data = dataOf(job);
  return {
    ...data,
    msg_id: job.id,
    dest: data['dest'] ?? job.queue,
    count: countOf(job) + (hitLimit(job) ? 1 : 0),
    max_count: maxCountOf(job),
    due: Math.floor(job.runAt / 1_000),
  };
}

/** Returns the job as an RQ message. */
export function messageOf(job: Job, more: { path: string; attachments: Readonly<Record<string, unknown>> }) {
  return {
    ...messageFields(job),
    state: rqStateOf(job),
    status: statusOf(job),
    ...(job.foldedInto !== null && { dup: job.foldedInto }),
    path: more.path,
    ...(Object.keys(more.attachments).length > 0 && { _attachments: more.attachments }),
  };
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
