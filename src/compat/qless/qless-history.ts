/**
 * A job's history as qless tells it: `{ when, what, … }`, and the stages of the first document, `[queue, put, popped, completed,
 * worker]`.
 *
 * A row of Longhaul's history names no queue, so the door leaves a note with the queue's name before a job leaves it.
 */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';

export interface HistoryItem {
  readonly when: number;
  readonly what: string;
  readonly q?: string;
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

interface Noted {
  /** The queue that the job is about to leave. */
  readonly from?: string;
  /** Words of `log`. */
  readonly what?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** The lock that ran out, and who had it: told once, when the first pop comes upon it. */
  readonly stalled?: number;
  readonly worker?: string;
}

export function noteOf(row: HistoryRow): Noted | null {
  if (row.event !== 'changed' || row.note === null || !row.note.startsWith('{"qless":')) return null;
  try {
    return (JSON.parse(row.note) as { readonly qless: Noted }).qless;
  } catch {
    // Somebody else's words that begin like ours.
    return null;
  }
}

export const toNote = (noted: Noted): string => JSON.stringify({ qless: noted });

export function historyOf(job: Job, rows: readonly HistoryRow[]): readonly HistoryItem[] {
  // A job that was canceled and put again is another job to qless.
  const own = rows.slice(rows.findLastIndex(({ event }) => event === 'cancelled') + 1);
  const items: HistoryItem[] = [];
  let queue = job.queue;
  for (const row of own.toReversed()) {
    const noted = noteOf(row);
    if (noted?.from !== undefined) queue = noted.from;
    const isTold = row.event === 'lost' && isToldOf(own, row.token);
    items.push(...itemsOf(row, { job, queue, noted, isTold }).toReversed());
  }
  return items.reverse();
}

/** Whether the end of this lock was told of while its worker still had the grace period. */
export function isToldOf(rows: readonly HistoryRow[], token: number | null): boolean {
  return rows.some((row) => noteOf(row)?.stalled === token && token !== null);
}

/** Undefined details are left out. */
function item(row: HistoryRow, what: string, details: Readonly<Record<string, unknown>> = {}): HistoryItem {
  return JSON.parse(JSON.stringify({ ...details, when: row.at / 1_000, what })) as HistoryItem;
}

interface RowContext {
  readonly job: Job;
  readonly queue: string;
  readonly noted: Noted | null;
  readonly isTold: boolean;
}

function itemsOf(row: HistoryRow, { job, queue, noted, isTold }: RowContext): readonly HistoryItem[] {
  const failed = (): HistoryItem => item(row, 'failed', { worker: row.by ?? '', group: job.failure?.group });
  switch (row.event) {
    case 'added':
    case 'moved':
    case 'requeued':
      return [item(row, 'put', { q: queue })];
    case 'claimed':
      return [item(row, 'popped', { worker: row.by })];
    case 'completed':
    case 'forwarded':
      return [item(row, 'done')];
    case 'advanced':
      return [item(row, 'done'), item(row, 'put', { q: row.note })];
    case 'failed':
    case 'retried':
      return [row.state === 'failed' ? failed() : item(row, 'retried', { worker: row.by })];
    case 'lost':
    case 'released':
      return [...(isTold ? [] : [item(row, 'timed-out')]), ...(row.state === 'failed' ? [failed()] : [])];
    default:
      if (noted?.stalled !== undefined) return [item(row, 'timed-out')];
      return noted?.what === undefined ? [] : [item(row, noted.what, noted.details)];
  }
}

/** When and by whom a job was last failed, lost or tried again. */
export function lastFailure(rows: readonly HistoryRow[]): { when: number; worker: string } {
  const row = rows.findLast(({ event }) => event === 'failed' || event === 'lost' || event === 'retried');
  return { when: (row?.at ?? 0) / 1_000, worker: row?.by ?? '' };
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
