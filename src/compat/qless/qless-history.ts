/**
 * A job's history in the shape of qless, `{ when, what, … }`, and the stages of the first document, `[queue, put, popped,
 * completed, worker]`.
 *
 * A row of Longhaul's history names no queue and no failure group. So the layer leaves a note with them before a job
 * leaves its queue.
 */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job, Lease } from '../../core/job/job.ts';
import type { Dialect } from './arguments.ts';

export interface HistoryItem {
  readonly when: number;
  readonly what: string;
  readonly q?: string;
  readonly queue?: string;
  readonly worker?: string;
  readonly [detail: string]: unknown;
}

export type Stage = [
  queue: string,
  put: number,
  popped: number | null,
  completed: number | null,
  worker: string | null,
];

/** A failure as qless shows it. */
export interface QlessFailure {
  readonly group: string;
  readonly message: string;
  readonly when: number;
  readonly worker: string;
}

interface Noted {
  /** The queue that the job is about to leave, and the worker that put it elsewhere. */
  readonly from?: string;
  readonly by?: string;
  /** Not published: `unfail` puts a job back without an event. */
  readonly silent?: boolean;
  /** The failure that the job had. It stays visible until the job is completed. */
  readonly failure?: QlessFailure;
  /** Text of `log`. */
  readonly what?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The token of a lock that expired, and its worker: noted once, by the first pop after that. */
  readonly stalled?: number;
  readonly worker?: string;
  /** When that lock expired, and the end of the grace period that its lease was extended to. */
  readonly expired?: number;
  readonly until?: number;
  /** The earlier history of a job that was replaced. */
  readonly past?: readonly HistoryItem[];
}

export function noteOf(row: HistoryRow): Noted | null {
  if (row.event !== 'changed' || row.note === null || !row.note.startsWith('{"qless":')) return null;
  try {
    return (JSON.parse(row.note) as { readonly qless: Noted }).qless;
  } catch {
    // Another caller's note that begins like ours.
    return null;
  }
}

export const toNote = (noted: Noted): string => JSON.stringify({ qless: noted });

/** Returns the history, oldest first. `most`: the option `max-job-history`; 0 or less is no limit. */
export function historyOf(
  job: Job,
  rows: readonly HistoryRow[],
  { dialect, most }: { readonly dialect: Dialect; readonly most: number },
): readonly HistoryItem[] {
  const items: HistoryItem[] = [];
  let past: readonly HistoryItem[] = [];
  let queue = job.queue;
  let group = job.failure?.group;
  for (const row of rows.toReversed()) {
    const noted = noteOf(row);
    queue = noted?.from ?? queue;
    group = noted?.failure?.group ?? group;
    past = noted?.past ?? past;
    const isTold = row.event === 'lost' && notifiedAt(rows, row.token) !== null;
    items.push(...itemsOf(row, { job, queue, group, noted, isTold, dialect }).toReversed());
  }
  const all = [...past.map((each) => inDialect(each, dialect)), ...items.reverse()];
  return most > 0 && all.length > most ? [...all.slice(0, 1), ...all.slice(1 - most)] : all;
}

/** An earlier history is kept in the shape of qless. */
function inDialect({ q, ...rest }: HistoryItem, dialect: Dialect): HistoryItem {
  return (q === undefined ? rest : { ...(dialect === 'qless' ? { q } : { queue: q }), ...rest }) as HistoryItem;
}

/** Returns when a pop noted the end of the lock with this token, or null if none did. */
export function notifiedAt(rows: readonly HistoryRow[], token: number | null): number | null {
  return rows.find((row) => token !== null && noteOf(row)?.stalled === token)?.at ?? null;
}

/** Returns when a lock expired that only has its grace period left, or null. */
export function expiredAt(
  rows: readonly HistoryRow[],
  { token, until }: Pick<Lease, 'token' | 'until'>,
): number | null {
  const noted = rows.map(noteOf).find((each) => each?.stalled === token && each.until === until);
  return noted?.expired ?? null;
}

/** Leaves out details that are undefined. */
function item(row: HistoryRow, what: string, details: Readonly<Record<string, unknown>> = {}): HistoryItem {
  return JSON.parse(JSON.stringify({ ...details, when: secondsOf(row), what })) as HistoryItem;
}

const secondsOf = ({ at }: HistoryRow): number => Math.floor(at / 1_000);

interface RowContext {
  readonly job: Job;
  readonly queue: string;
  readonly group: string | undefined;
  readonly noted: Noted | null;
  readonly isTold: boolean;
  readonly dialect: Dialect;
}

function itemsOf(row: HistoryRow, context: RowContext): readonly HistoryItem[] {
  const { queue, group, noted, isTold, dialect } = context;
  const put = (name: string | null): HistoryItem =>
    item(row, 'put', dialect === 'qless' ? { q: name } : { queue: name });
  switch (row.event) {
    case 'added':
    case 'moved':
    case 'requeued':
      return [put(queue)];
    case 'claimed':
      return [item(row, 'popped', { worker: row.by })];
    case 'completed':
    case 'forwarded':
      return [item(row, 'done')];
    case 'advanced':
      return [item(row, 'done'), put(row.note)];
    case 'failed':
    case 'retried':
      return row.state === 'failed' ? [failedItem(row, context)] : [];
    case 'lost':
    case 'released':
      return [
        ...(isTold ? [] : [item(row, 'timed-out')]),
        ...(row.state === 'failed' ? [item(row, 'failed', { group })] : []),
      ];
    default:
      if (noted?.stalled !== undefined) return [item(row, 'timed-out')];
      return noted?.what === undefined ? [] : [item(row, noted.what, noted.details)];
  }
}

/** A job that ran out of retries has no worker in its row; reqless names the row differently. */
function failedItem(row: HistoryRow, { job, group, dialect }: RowContext): HistoryItem {
  const isExhausted = row.event === 'retried' || job.failure?.detail === RETRIES_EXHAUSTED;
  if (!isExhausted) return item(row, 'failed', { worker: row.by ?? '', group });
  return item(row, dialect === 'qless' ? 'failed' : 'failed-retries', { group });
}

/** The detail of a failure that `retry` caused, and not `fail`. */
export const RETRIES_EXHAUSTED = 'retries exhausted';

/** Returns when and by which worker a job last failed. */
export function lastFailure(rows: readonly HistoryRow[]): Pick<QlessFailure, 'when' | 'worker'> {
  const row = rows.findLast(({ event }) => event === 'failed' || event === 'lost' || event === 'retried');
  const isFailedByWorker = row?.event === 'failed';
  return { when: row === undefined ? 0 : secondsOf(row), worker: isFailedByWorker ? (row.by ?? '') : '' };
}

/** Returns the failure from before the last put, unless the job was completed since. */
export function earlierFailure(rows: readonly HistoryRow[]): QlessFailure | null {
  const since = rows.findLastIndex(({ event }) => event === 'completed' || event === 'advanced');
  return (
    rows
      .slice(since + 1)
      .map(noteOf)
      .findLast((noted) => noted?.failure !== undefined)?.failure ?? null
  );
}

export function stagesOf(items: readonly HistoryItem[]): readonly Stage[] {
  const stages: Stage[] = [];
  for (const { what, when, q, worker } of items) {
    if (what === 'put') stages.push([q ?? '', when, null, null, null]);
    const stage = stages.at(-1);
    if (stage === undefined) continue;
    if (what === 'popped') [stage[2], stage[4]] = [when, worker ?? null];
    if (what === 'done') stage[3] = when;
  }
  return stages;
}
