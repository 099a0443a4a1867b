/** A job's life as stretches of time, from its history: how long it waited, ran, and what ended each run. Pure. */
import type { HistoryRow } from '../../../src/core/job/history.ts';
import type { JobState } from '../../../src/core/job/job.ts';

export interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly state: JobState;
  readonly attempt: number;
  /** What began the next one; null for the one that goes on. */
  readonly end: HistoryRow['event'] | null;
}

const INTERRUPTIONS: readonly string[] = ['lost', 'released'];

/** Up to `until`, which is now for a job that goes on. */
export function stretchesOf(history: readonly HistoryRow[], until: number): readonly Stretch[] {
  const turns = history.filter(({ event }) => event !== 'late' && event !== 'changed' && event !== 'cancel-asked');
  return turns.flatMap((row, place) => {
    const next = turns[place + 1];
    const isOver = row.state === 'done' || row.state === 'failed' || row.state === 'cancelled';
    if (next === undefined && isOver) return [];
    const { state, attempt, at: from } = row;
    return [{ from, to: Math.max(from, next?.at ?? until), state, attempt, end: next?.event ?? null }];
  });
}

export function isInterruption({ end }: Stretch): boolean {
  return end !== null && INTERRUPTIONS.includes(end);
}
