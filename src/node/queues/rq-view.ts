/**
 * A job as RQ's clients and webhooks read it: its record under RQ's names. No rule lives here.
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

/** `run - half of it`: the state, and the last words of the script. */
export function statusOf(job: Job): string {
  const words = wordsOf(job);
  return words === '' ? rqStateOf(job) : `${rqStateOf(job)} - ${words}`;
}

function wordsOf({ state, failure, forwardedTo, progress, result, foldedInto }: Job): string {
  if (foldedInto !== null) return `duplicate ${foldedInto}`;
  if (state === 'cancelled') return 'cancelled';
  if (state === 'failed') return failure?.message ?? '';
  return forwardedTo ?? (state === 'done' ? lastWords(result) : null) ?? progress?.text ?? '';
}

/** A script that named no result leaves its last words there. */
function lastWords(result: string | null): string | null {
  const value: unknown = JSON.parse(result ?? 'null');
  const isWords = typeof value === 'object' && value !== null && 'status' in value;
  return isWords && typeof value.status === 'string' ? value.status : null;
}

/** The record as RQ's clients read it. */
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

/** Jobs that were not made as messages have their data under `data`. */
export function dataOf({ data }: Pick<Job, 'data'>): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(data);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return value === null ? {} : { data: value };
}
