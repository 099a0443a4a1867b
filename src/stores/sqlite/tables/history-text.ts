/**
 * A history as one text: a JSON array a row, with a comma before each. So a row is appended without reading the
 * others, and the whole becomes JSON by two brackets.
 *
 * It is short because it is written with every transition: times count from the job's creation, and words are
 * places in their lists, which therefore may only grow at their ends. The first row of nearly every job says that
 * it was added, waiting, when it was created. That one is not written: a text that begins with a comma, or is
 * empty, has it before all others.
 */
import type { HistoryRow } from '../../../core/job/history.ts';
import { HISTORY_EVENTS } from '../../../core/job/history.ts';
import { JOB_STATES } from '../../../core/job/job.ts';
import { LonghaulError } from '../../../core/ports/errors.ts';

type Packed = readonly [
  after: number,
  event: number,
  state: number,
  attempt: number,
  token: number | null,
  by: string | null,
  note: string | null,
];

/** Written out, which is faster than JSON.stringify over the whole. */
export function packRow({ at, event, state, attempt, token, by, note }: HistoryRow, createdAt: number): string {
  const [what, how] = [HISTORY_EVENTS.indexOf(event), JOB_STATES.indexOf(state)];
  const [who, why] = [by === null ? null : JSON.stringify(by), note === null ? null : JSON.stringify(note)];
  return `[${at - createdAt},${what},${how},${attempt},${token},${who},${why}]`;
}

/** The text of a history that begins with this row. */
export function packFirstRow(row: HistoryRow, createdAt: number): string {
  return isUnwritten(row, createdAt) ? '' : packRow(row, createdAt);
}

export function packRows(rows: readonly HistoryRow[], createdAt: number): string {
  return rows.map((row) => packRow(row, createdAt)).join(',');
}

/** Throws `data-corrupt` for a text that no history has. */
export function unpackRows(text: string, createdAt: number): readonly HistoryRow[] {
  const hasFirst = text.startsWith('[');
  const packed = parse(`[${hasFirst ? text : text.slice(1)}]`);
  const rows = packed.map((row) => unpack(row, createdAt));
  return hasFirst ? rows : [unwrittenRow(createdAt), ...rows];
}

function parse(text: string): readonly Packed[] {
  try {
    return JSON.parse(text) as readonly Packed[];
  } catch (error) {
    throw damaged((error as Error).message, error);
  }
}

function damaged(words: string, cause?: unknown): LonghaulError {
  return new LonghaulError('data-corrupt', `the history of a job cannot be read: ${words}`, { cause });
}

function unpack([after, what, how, attempt, token, by, note]: Packed, createdAt: number): HistoryRow {
  const [event, state] = [HISTORY_EVENTS[what], JOB_STATES[how]];
  if (event === undefined || state === undefined) throw damaged(`it has the unknown event ${what} or state ${how}`);
  return { at: createdAt + after, event, state, attempt, token, by, note };
}

function unwrittenRow(at: number): HistoryRow {
  return { at, event: 'added', state: 'waiting', attempt: 0, token: null, by: null, note: null };
}

function isUnwritten({ at, event, state, attempt, token, by, note }: HistoryRow, createdAt: number): boolean {
  const isBare = attempt === 0 && token === null && by === null && note === null;
  return at === createdAt && event === 'added' && state === 'waiting' && isBare;
}
