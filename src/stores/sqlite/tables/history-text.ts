/**
 * The encoding of a history as one text: one JSON array per row, with a comma before each. So a row is appended without
 * reading the others, and two brackets make the whole valid JSON.
 *
 * The text is short because it is written with every transition: times are relative to the job's creation, and events and
 * states are indexes into their lists, which may therefore only grow at the end. The first row of nearly every job is
 * "added, waiting" at the creation time. That row is implied: a text that is empty or begins with a comma starts with it.
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

/** Builds the text by hand, which is faster than JSON.stringify of the whole row. */
export function packRow(row: HistoryRow, createdAt: number): string {
  const [middle, end] = rowParts(row);
  return `[${row.at - createdAt}${middle}${row.token}${end}`;
}

/** Returns the text of a row between its time and its token, and the text after the token. */
export function rowParts({ event, state, attempt, by, note }: HistoryRow): readonly [middle: string, end: string] {
  const [byText, noteText] = [by === null ? null : JSON.stringify(by), note === null ? null : JSON.stringify(note)];
  const middle = `,${HISTORY_EVENTS.indexOf(event)},${JOB_STATES.indexOf(state)},${attempt},`;
  return [middle, `,${byText},${noteText}]`];
}

/** Returns the text of a history that begins with this row. */
export function packFirstRow(row: HistoryRow, createdAt: number): string {
  return isImplied(row, createdAt) ? '' : packRow(row, createdAt);
}

export function packRows(rows: readonly HistoryRow[], createdAt: number): string {
  return rows.map((row) => packRow(row, createdAt)).join(',');
}

/** Throws `data-corrupt` for a text that is not a history. */
export function unpackRows(text: string, createdAt: number): readonly HistoryRow[] {
  const hasFirst = text.startsWith('[');
  const packed = parse(`[${hasFirst ? text : text.slice(1)}]`);
  const rows = packed.map((row) => unpack(row, createdAt));
  return hasFirst ? rows : [impliedRow(createdAt), ...rows];
}

function parse(text: string): readonly Packed[] {
  try {
    return JSON.parse(text) as readonly Packed[];
  } catch (error) {
    throw damaged((error as Error).message, error);
  }
}

function damaged(reason: string, cause?: unknown): LonghaulError {
  return new LonghaulError('data-corrupt', `the history of a job cannot be read: ${reason}`, { cause });
}

function unpack([after, eventIndex, stateIndex, attempt, token, by, note]: Packed, createdAt: number): HistoryRow {
  const [event, state] = [HISTORY_EVENTS[eventIndex], JOB_STATES[stateIndex]];
  if (event === undefined || state === undefined)
    throw damaged(`it has the unknown event ${eventIndex} or state ${stateIndex}`);
  return { at: createdAt + after, event, state, attempt, token, by, note };
}

function impliedRow(at: number): HistoryRow {
  return { at, event: 'added', state: 'waiting', attempt: 0, token: null, by: null, note: null };
}

function isImplied({ at, event, state, attempt, token, by, note }: HistoryRow, createdAt: number): boolean {
  const isBare = attempt === 0 && token === null && by === null && note === null;
  return at === createdAt && event === 'added' && state === 'waiting' && isBare;
}
