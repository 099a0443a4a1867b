/** Reads the history of a job from its record, where it stands between the fields and the data. */
import type { HistoryEvent, HistoryRow } from '../../../core/job/history.ts';
import { fieldsOf, numberIn, stateOf, textOf, timeOf } from './job-record.ts';
import { EVENT_LETTERS, FIELD, PART } from './layout.ts';

const EVENTS = new Map(Object.entries(EVENT_LETTERS).map(([event, letter]) => [letter, event as HistoryEvent]));

/** The first row is not stored: a job that was added was nothing else before. */
export function readHistory(record: string): HistoryRow[] {
  const [createdAt = ''] = record.split(' ', 2).slice(1);
  const at = numberIn(createdAt);
  const wasDraft = fieldsOf(record)['draft'] !== undefined;
  const added = {
    at,
    event: 'added',
    state: wasDraft ? 'draft' : 'waiting',
    attempt: 0,
    token: null,
    by: null,
    note: null,
  } as const;
  const rows = record
    .slice(0, record.indexOf(`${FIELD}:`))
    .split(`${FIELD}+`)
    .slice(1);
  return [added, ...rows.map((row) => readRow(row, at))];
}

function readRow(row: string, createdAt: number): HistoryRow {
  const [head = '', ...parts] = row.split(PART);
  const [delta = '', attempt = '', token] = head.slice(2).split(' ');
  const part = (letter: string) => parts.find((each) => each.startsWith(letter))?.slice(1);
  return {
    at: createdAt + numberIn(delta),
    event: EVENTS.get(head.charAt(0)) ?? 'late',
    state: stateOf(head.charAt(1)),
    attempt: numberIn(attempt),
    token: timeOf(token),
    by: textOf(part('b')),
    note: textOf(part('n')),
  };
}
