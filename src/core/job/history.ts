/**
 * A job's history: one row for each change of state, append-only.
 *
 * Invariant: the state of a job is the `state` of its last row that is not `late` or `changed`.
 * Heartbeats and progress are not history. At most `MAX_HISTORY` rows are kept, the first of them always.
 */
import type { JobState } from './job.ts';

export const HISTORY_EVENTS = [
  'added',
  'committed',
  'claimed',
  'completed',
  'advanced',
  'forwarded',
  'failed',
  'retried',
  'resent',
  'released',
  'lost',
  'cancel-asked',
  'cancelled',
  'requeued',
  'moved',
  'changed',
  'late',
  'unblocked',
  'folded',
  'unfolded',
  'suspended',
  'resumed',
  'notified',
] as const;
export type HistoryEvent = (typeof HISTORY_EVENTS)[number];

/** One row of a job's history. */
export interface HistoryRow {
  /** When it happened, in epoch milliseconds of the store's clock. */
  readonly at: number;
  /** What happened. */
  readonly event: HistoryEvent;
  /** The state after the event. */
  readonly state: JobState;
  /** The number of the attempt; 0 before the first. */
  readonly attempt: number;
  /** The lease's token where the event belongs to an attempt, else null. */
  readonly token: number | null;
  /** The worker of the attempt, or the caller. */
  readonly by: string | null;
  /** A reason, a failure message or another detail of the event. */
  readonly note: string | null;
}

export const MAX_HISTORY = 100;
export const MAX_LATE_ROWS = 3;
export const MAX_NOTE_LENGTH = 4096;

/** Appends a row under the cap: the first row stays, the oldest of the other rows is dropped. */
export function appendRow(rows: readonly HistoryRow[], row: HistoryRow): readonly HistoryRow[] {
  const [first, ...rest] = rows;
  if (first === undefined) return [row];
  const room = MAX_HISTORY - 2;
  return [first, ...(rest.length > room ? rest.slice(rest.length - room) : rest), row];
}

/** Returns whether an event gives a lease: it starts an attempt, or resumes a suspended one. */
export function isStart(event: HistoryEvent): boolean {
  return event === 'claimed' || event === 'resumed';
}

/** Events with a token that end no attempt. */
const NO_ENDS: ReadonlySet<HistoryEvent> = new Set<HistoryEvent>(['claimed', 'resumed', 'late', 'cancel-asked']);

/** Returns the row that ended the attempt with this token, if it is still kept. */
export function endRowOf(rows: readonly HistoryRow[], token: number): HistoryRow | undefined {
  return rows.findLast((row) => row.token === token && !NO_ENDS.has(row.event));
}

const SETTLEMENT_KINDS = ['complete', 'fail', 'retry', 'resend', 'release', 'crash', 'forward', 'suspend'];

/**
 * Returns the note of a row for display.
 *
 * A cancelled attempt keeps the kind of its settlement as its note, so that a repeated settlement is recognised. The
 * job ended as `cancelled`, whatever that kind was.
 */
export function shownNote({ event, note }: Pick<HistoryRow, 'event' | 'note'>): string | null {
  return event === 'cancelled' && note !== null && SETTLEMENT_KINDS.includes(note) ? null : note;
}

/** Returns whether a late settlement may still be recorded: at most three for each job, and each only once. */
export function canKeepLate(rows: readonly HistoryRow[], late: HistoryRow): boolean {
  const known = rows.filter((row) => row.event === 'late');
  return known.length < MAX_LATE_ROWS && !known.some((row) => row.token === late.token && row.note === late.note);
}

/** The note of the row that explains why a job has no result any more. */
export const RESULT_PRUNED = 'result pruned';
