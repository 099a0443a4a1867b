/** The segments of a job's timeline, from its history: waiting, running, and the event that ended each. Pure. */
import type { HistoryRow } from '../../../src/core/job/history.ts';
import type { JobState } from '../../../src/core/job/job.ts';

export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly state: JobState;
  readonly attempt: number;
  /** The event that ended the segment; null for the current one. */
  readonly end: HistoryRow['event'] | null;
}

const INTERRUPTIONS: readonly string[] = ['lost', 'released'];

/** Returns the segments up to `until`, which is now for a job that has not ended. */
export function segmentsOf(history: readonly HistoryRow[], until: number): readonly Segment[] {
  const turns = history.filter(({ event }) => event !== 'late' && event !== 'changed' && event !== 'cancel-asked');
  return turns.flatMap((row, place) => {
    const next = turns[place + 1];
    const isOver = row.state === 'done' || row.state === 'failed' || row.state === 'cancelled';
    if (next === undefined && isOver) return [];
    const { state, attempt, at: from } = row;
    return [{ from, to: Math.max(from, next?.at ?? until), state, attempt, end: next?.event ?? null }];
  });
}

export function isInterruption({ end }: Segment): boolean {
  return end !== null && INTERRUPTIONS.includes(end);
}
