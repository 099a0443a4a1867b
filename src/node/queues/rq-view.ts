/**
 * A job as RQ's clients and webhooks read it: its record under RQ's names. Contains no rules.
 *
 *     prep ─ draft    que ─ waiting    run ─ running    done, relayed ─ done    err ─ failed, cancelled
 */
import type { Job } from '../../core/job/job.ts';

export type RqState = 'prep' | 'que' | 'run' | 'done' | 'relayed' | 'err';
export const RQ_STATES: readonly RqState[] = ['prep', 'que', 'run', 'done', 'relayed', 'err'];

export const DEFAULT_MAX_COUNT = 15;

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

function statusText({ state, failure, forwardedTo, progress, result, foldedInto }: Job): string {
  if (foldedInto !== null) return `duplicate ${foldedInto}`;
  if (state === 'cancelled') return 'cancelled';
  if (state === 'failed') return failure?.message ?? '';
  return forwardedTo ?? (state === 'done' ? resultStatus(result) : null) ?? progress?.text ?? '';
}

/** A script without a result leaves its last status text as the result. */
function resultStatus(result: string | null): string | null {
  const value: unknown = JSON.parse(result ?? 'null');
  const hasStatus = typeof value === 'object' && value !== null && 'status' in value;
  return hasStatus && typeof value.status === 'string' ? value.status : null;
}

/** Returns the job as an RQ message. */
export function messageOf(job: Job, more: { path: string; attachments: Readonly<Record<string, unknown>> }) {
  const data = dataOf(job);
  return {
    ...data,
    msg_id: job.id,
    dest: data['dest'] ?? job.queue,
    count: job.resends,
    max_count: job.policy.maxResends ?? DEFAULT_MAX_COUNT,
    due: Math.floor(job.runAt / 1_000),
    state: rqStateOf(job),
    status: statusOf(job),
    ...(job.foldedInto !== null && { dup: job.foldedInto }),
    path: more.path,
    _attachments: more.attachments,
  };
}

/** Data that are not a JSON object are returned under `data`. */
export function dataOf({ data }: Pick<Job, 'data'>): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(data);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return value === null ? {} : { data: value };
}
