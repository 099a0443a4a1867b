/**
 * Replays a history: computes what a job must be from its events alone.
 *
 * It must never import the lifecycle: a bug there would then be repeated here and stay unnoticed.
 */
import { type HistoryEvent, type HistoryRow, MAX_HISTORY } from '../../src/core/job/history.ts';
import type { JobState } from '../../src/core/job/job.ts';

export interface ReplayedJob {
  readonly state: JobState | null;
  readonly attempt: number;
  /** The newest token that was given out. */
  readonly token: number | null;
  /** Whether it is coalesced into another job, with which it may be done. */
  readonly isCoalesced: boolean;
  readonly problems: readonly string[];
}

type Step = { readonly from: readonly (JobState | null)[]; readonly to: readonly JobState[] };

const ANY: readonly JobState[] = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'];
const again: Step = { from: ['running'], to: ['waiting', 'failed'] };

/** The states before and after each event. `changed` and `late` keep the state. */
const STEPS: Readonly<Record<HistoryEvent, Step>> = {
  added: { from: [null], to: ['draft', 'waiting'] },
  committed: { from: ['draft'], to: ['waiting'] },
  claimed: { from: ['waiting'], to: ['running'] },
  completed: { from: ['running'], to: ['done'] },
  advanced: { from: ['running'], to: ['waiting'] },
  forwarded: { from: ['running'], to: ['done'] },
  failed: { from: ['draft', 'waiting', 'running'], to: ['waiting', 'failed'] },
  retried: again,
  resent: again,
  released: { from: ['running'], to: ['waiting'] },
  lost: again,
  'cancel-asked': { from: ['running'], to: ['running'] },
  cancelled: { from: ['draft', 'waiting', 'running'], to: ['cancelled'] },
  requeued: { from: ['done', 'failed', 'cancelled', 'running'], to: ['waiting'] },
  moved: { from: ['draft', 'waiting', 'running'], to: ['draft', 'waiting'] },
  changed: { from: ANY, to: ANY },
  late: { from: ANY, to: ANY },
  unblocked: { from: ['waiting'], to: ['waiting'] },
  folded: { from: ['waiting'], to: ['waiting'] },
  unfolded: { from: ['waiting'], to: ['waiting'] },
  suspended: { from: ['running'], to: ['waiting'] },
  resumed: { from: ['waiting'], to: ['running'] },
  notified: { from: ANY, to: ANY },
};

/** How a coalesced job ends with its leader. */
const WITH_A_LEADER: ReadonlySet<HistoryEvent> = new Set(['completed', 'forwarded']);
/** Events after which a job stays coalesced. */
const STAYING: ReadonlySet<HistoryEvent> = new Set(['late', 'changed', 'notified']);

export function replayHistory(rows: readonly HistoryRow[]): ReplayedJob {
  let replayed: ReplayedJob = { state: null, attempt: 0, token: null, isCoalesced: false, problems: [] };
  const isTrimmed = rows.length >= MAX_HISTORY;
  for (const [place, row] of rows.entries()) replayed = step(replayed, row, isTrimmed && place === 1);
  return replayed;
}

/** After the gap of a trimmed history any state is possible, and the row gives the number of attempts. */
function step(before: ReplayedJob, row: HistoryRow, isAfterGap: boolean): ReplayedJob {
  const { from, to } = STEPS[row.event];
  const isWithLeader = before.isCoalesced && before.state === 'waiting' && WITH_A_LEADER.has(row.event);
  const isLegal = isAfterGap || isWithLeader || from.includes(before.state);
  const state = to.length === 1 ? (to[0] ?? null) : stateOf(before, row);
  const isClaim = row.event === 'claimed';
  const isStart = isClaim || row.event === 'resumed';
  const attempt = isAfterGap ? row.attempt : before.attempt + (isClaim ? 1 : 0);
  const problems = [
    ...(isLegal ? [] : [`${row.event} of a job that was ${before.state}`]),
    ...(state === row.state && to.includes(row.state) ? [] : [`${row.event} left it ${row.state}, not ${state}`]),
    ...(row.attempt === attempt ? [] : [`${row.event} is of attempt ${row.attempt}, not ${attempt}`]),
    ...tokenProblems(before, row, isAfterGap),
  ];
  const isCoalesced = row.event === 'folded' || (before.isCoalesced && STAYING.has(row.event));
  const token = isStart ? row.token : before.token;
  return { state, attempt, token, isCoalesced, problems: [...before.problems, ...problems] };
}

/** Rows that keep the state. */
const KEEPING_STATE: ReadonlySet<HistoryEvent> = new Set(['changed', 'late', 'notified']);

/** If an event may lead to several states, its row decides, except for rows that change nothing. */
function stateOf(before: ReplayedJob, row: HistoryRow): JobState | null {
  return KEEPING_STATE.has(row.event) ? before.state : row.state;
}

const OF_AN_ATTEMPT: ReadonlySet<HistoryEvent> = new Set([
  'completed',
  'advanced',
  'forwarded',
  'failed',
  'retried',
  'resent',
  'released',
  'lost',
  'suspended',
  'cancel-asked',
]);

function tokenProblems(before: ReplayedJob, row: HistoryRow, isAfterGap: boolean): readonly string[] {
  if (row.event === 'claimed' || row.event === 'resumed') {
    const grows = row.token !== null && (before.token === null || row.token > before.token);
    return grows ? [] : [`token ${row.token} was given out after ${before.token}`];
  }
  if (isAfterGap || !OF_AN_ATTEMPT.has(row.event) || row.token === before.token) return [];
  return [`${row.event} was accepted under token ${row.token}, but the newest was ${before.token}`];
}
