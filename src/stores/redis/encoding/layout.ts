/**
 * How a job is written in Redis: the letters and separators that the scripts and this side agree on.
 *
 * A record is one text (lua/lib/base.lua describes it). Its separators are control characters; a text that contains one
 * of them is escaped here, before it leaves, so the scripts never meet one inside a value.
 */
import type { HistoryEvent } from '../../../core/job/history.ts';
import type { JobState } from '../../../core/job/job.ts';
import type { Span } from '../../../core/statistics/series.ts';

/** Another layout gets another number, and a store opens only what it can read. */
export const SCHEMA = '1';

/** Between the fields of a record or the answers of a list, and between the parts of a field. */
export const FIELD = '\x1f';
export const PART = '\x1e';

/** Longer texts stand apart from the record, so that a heartbeat does not write them again. In characters. */
export const INLINE_LIMIT = 1_000;

/** The first letter of a record. Waiting are `f`, in the fifo of plain jobs, `w`, in the sorted sets, `b`, for other jobs, and `k`, for a slot. */
export const PLACES: Readonly<Record<string, JobState>> = {
  f: 'waiting',
  w: 'waiting',
  b: 'waiting',
  k: 'waiting',
  p: 'draft',
  r: 'running',
  d: 'done',
  x: 'failed',
  c: 'cancelled',
};

export const EVENT_LETTERS: Readonly<Record<HistoryEvent, string>> = {
  added: 'a',
  committed: 'm',
  claimed: 'c',
  completed: 'o',
  advanced: 'v',
  forwarded: 'w',
  failed: 'f',
  retried: 'r',
  resent: 's',
  released: 'l',
  lost: 'x',
  'cancel-asked': 'k',
  cancelled: 'z',
  requeued: 'q',
  moved: 'g',
  changed: 'h',
  late: 't',
  unblocked: 'u',
  folded: 'd',
  unfolded: 'e',
  suspended: 'p',
  resumed: 'j',
  notified: 'n',
};

const ESCAPE = '\x1d';

export function escapeText(text: string): string {
  if (!text.includes(FIELD) && !text.includes(PART) && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}0`).replaceAll(PART, `${ESCAPE}1`).replaceAll(FIELD, `${ESCAPE}2`);
}

export function unescapeText(text: string): string {
  if (!text.includes(ESCAPE)) return text;
  return text.replaceAll(`${ESCAPE}2`, FIELD).replaceAll(`${ESCAPE}1`, PART).replaceAll(`${ESCAPE}0`, ESCAPE);
}

/** The spans of throughput over time, as they stand in the addresses of its pages (lua/lib/aggregates.lua). */
export const SPAN_LETTERS: Readonly<Record<Span, string>> = { minute: 'm', hour: 'h' };
