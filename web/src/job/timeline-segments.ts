/** The segments of a job's timeline, from its history: waiting, running, suspended, and what ended each. Pure. */
import type { HistoryRow } from '../../../src/core/job/history.ts';
import type { JobState } from '../../../src/core/job/job.ts';

export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly state: JobState;
  readonly attempt: number;
  /** What a suspended job waits for, such as `sleeping`; null for a segment in which it is not suspended. */
  readonly wait: string | null;
  /** The event that ended the segment, `over` for a wait whose time has come; null for the current one. */
  readonly end: HistoryRow['event'] | 'over' | null;
}

const INTERRUPTIONS: readonly string[] = ['lost', 'released'];
const NO_TURNS: readonly string[] = ['late', 'changed', 'cancel-asked'];

/**
 * Returns the segments up to `until`, which is now for a job that has not ended. `wakeTimes` are the ends of sleeps and
 * waits: from then on a suspended job waits for a worker.
 */
export function segmentsOf(
  history: readonly HistoryRow[],
  until: number,
  wakeTimes: readonly number[] = [],
): readonly Segment[] {
  const turns = turnsOf(history);
  return turns.flatMap(({ row, wait }, place) => {
    const next = turns[place + 1]?.row;
    const isOver = row.state === 'done' || row.state === 'failed' || row.state === 'cancelled';
    if (next === undefined && isOver) return [];
    const { state, attempt, at: from } = row;
    const to = Math.max(from, next?.at ?? until);
    return splitWait({ from, to, state, attempt, wait, end: next?.event ?? null }, wakeTimes);
  });
}

interface Turn {
  readonly row: HistoryRow;
  readonly wait: string | null;
}

/** The rows that begin a segment. An event begins one only if the job waited for it; a move continues the wait. */
function turnsOf(history: readonly HistoryRow[]): readonly Turn[] {
  const turns: Turn[] = [];
  let wait: string | null = null;
  for (const row of history) {
    const { event, note } = row;
    if (NO_TURNS.includes(event) || (event === 'notified' && wait !== `waiting for ${note}`)) continue;
    if (event === 'suspended') wait = note;
    else if (event !== 'moved') wait = null;
    turns.push({ row, wait });
  }
  return turns;
}

function splitWait(segment: Segment, wakeTimes: readonly number[]): readonly Segment[] {
  const { from, to, wait } = segment;
  const wake = wait === null ? undefined : wakeTimes.filter((at) => at > from && at < to).sort((a, b) => a - b)[0];
  if (wake === undefined) return [segment];
  return [
    { ...segment, to: wake, end: 'over' },
    { ...segment, from: wake, wait: null },
  ];
}

export function isInterruption({ end }: Segment): boolean {
  return end !== null && INTERRUPTIONS.includes(end);
}
