/**
 * A message of RQ is a job of Longhaul: the names of the one and of the other, both ways. No rule lives here.
 *
 *     prep ─ draft    que ─ waiting    run ─ running    done, relayed ─ done    err ─ failed, cancelled
 */
import { type Check, checked, flag, integer, listOf, object, text } from '../../core/check.ts';
import type { Job } from '../../core/job.ts';
import type { NewJob } from '../../core/job-store.ts';
import { toJsonText } from '../../core/json.ts';

export type RqState = 'prep' | 'que' | 'run' | 'done' | 'relayed' | 'err';
export const RQ_STATES: readonly RqState[] = ['prep', 'que', 'run', 'done', 'relayed', 'err'];

export const DEFAULT_MAX_COUNT = 15;
const anyText = text({ max: 256 * 1024 });

/** RQ's clients write numbers as texts as well. */
const wholeNumber: Check<number> = (value, report, path) =>
  integer(0, 100_000_000_000)(typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value, report, path);
/** Given as one text it is one address: RQ dropped it without a word. */
const addresses: Check<readonly string[]> = (value, report, path) =>
  listOf(text({ max: 2_048 }), 20)(typeof value === 'string' ? [value] : value, report, path);
const yesOrNo: Check<boolean> = (value, report, path) =>
  flag(typeof value === 'string' ? ['1', 'true', 'yes'].includes(value) : value === 1 || value, report, path);
const dest = text({ max: 2_048, pattern: /\S/, must: 'must name a queue' });

const shape = {
  dest,
  src: anyText,
  count: wholeNumber,
  max_count: wholeNumber,
  due: wholeNumber,
  post_run_webhook: addresses,
  force_remote: yesOrNo,
  orig_msg_id: anyText,
  cloned_from: anyText,
};
const known = object(shape);

/** What a message says of itself, checked; what RQ has no name for goes along as it is. */
export function readMessage(given: Readonly<Record<string, unknown>>) {
  const named = Object.fromEntries(Object.entries(given).filter(([name]) => name in shape));
  const right = checked('message', named, known);
  if (right.dest === undefined) checked('message', { dest: '' }, known);
  const { _method, ...rest } = given;
  return { ...rest, ...right };
}
export type Message = ReturnType<typeof readMessage>;

export function jobOfMessage(message: Message, where: { id: string; queue: string; draft: boolean }): NewJob {
  const { count: _count, max_count, due, ...data } = message;
  return {
    ...where,
    data: toJsonText('message', data),
    policy: { maxResends: max_count ?? DEFAULT_MAX_COUNT },
    ...(due !== undefined && due > 0 && { runAt: due * 1_000 }),
  };
}

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
