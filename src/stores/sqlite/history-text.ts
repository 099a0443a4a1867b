/**
 * A history as one text: a JSON array a row, with commas between them. So a row is appended without reading the
 * others, and the whole becomes JSON by two brackets.
 */
import type { HistoryEvent, HistoryRow } from '../../core/history.ts';
import type { JobState } from '../../core/job.ts';

type Packed = readonly [
  at: number,
  event: HistoryEvent,
  state: JobState,
  attempt: number,
  token: number | null,
  by: string | null,
  note: string | null,
];

/** Written out, which is faster than JSON.stringify over the whole: this runs for every transition. */
export function packRow({ at, event, state, attempt, token, by, note }: HistoryRow): string {
  const [who, why] = [by === null ? null : JSON.stringify(by), note === null ? null : JSON.stringify(note)];
  return `[${at},"${event}","${state}",${attempt},${token},${who},${why}]`;
}

export function packRows(rows: readonly HistoryRow[]): string {
  return rows.map(packRow).join(',');
}

export function unpackRows(text: string): readonly HistoryRow[] {
  const rows = JSON.parse(`[${text}]`) as readonly Packed[];
  return rows.map(([at, event, state, attempt, token, by, note]) => ({ at, event, state, attempt, token, by, note }));
}
