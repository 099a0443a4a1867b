/**
 * What a job must be by its history alone: worked out from the events, without asking the lifecycle or the store.
 *
 * It must never import the lifecycle: a mistake there would then be made here as well, and nobody would see it.
 */
import { type HistoryEvent, type HistoryRow, MAX_HISTORY } from '../../src/core/job/history.ts';
import type { JobState } from '../../src/core/job/job.ts';

export interface Folded {
  readonly state: JobState | null;
  readonly attempt: number;
  /** The newest token that was given out. */
  readonly token: number | null;
  /** Folded into another job, with which it may be done. */
  readonly isFolded: boolean;
  readonly problems: readonly string[];
}

type Step = { readonly from: readonly (JobState | null)[]; readonly to: readonly JobState[] };

const ANY: readonly JobState[] = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'];
const again: Step = { from: ['running'], to: ['waiting', 'failed'] };

/** From which states an event can come, and to which it leads. `changed` and `late` lead nowhere. */
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
};

/** How a job ends that waited for the end of the one it was folded into. */
const WITH_A_LEADER: ReadonlySet<HistoryEvent> = new Set(['completed', 'forwarded']);
/** What may come to a job that stays folded. */
const STAYING: ReadonlySet<HistoryEvent> = new Set(['late', 'changed']);

export function foldHistory(rows: readonly HistoryRow[]): Folded {
  let folded: Folded = { state: null, attempt: 0, token: null, isFolded: false, problems: [] };
  const isTrimmed = rows.length >= MAX_HISTORY;
  for (const [place, row] of rows.entries()) folded = step(folded, row, isTrimmed && place === 1);
  return folded;
}

/** After a gap in a trimmed history any state may have been reached, and the row says how many attempts there were. */
function step(before: Folded, row: HistoryRow, isAfterGap: boolean): Folded {
  const { from, to } = STEPS[row.event];
  const isWithLeader = before.isFolded && before.state === 'waiting' && WITH_A_LEADER.has(row.event);
  const isLegal = isAfterGap || isWithLeader || from.includes(before.state);
  const state = to.length === 1 ? (to[0] ?? null) : stateOf(before, row);
  const isClaim = row.event === 'claimed';
  const attempt = isAfterGap ? row.attempt : before.attempt + (isClaim ? 1 : 0);
  const problems = [
    ...(isLegal ? [] : [`${row.event} came to a job that was ${before.state}`]),
    ...(state === row.state && to.includes(row.state) ? [] : [`${row.event} left it ${row.state}, not ${state}`]),
    ...(row.attempt === attempt ? [] : [`${row.event} is of attempt ${row.attempt}, not ${attempt}`]),
    ...tokenProblems(before, row, isAfterGap),
  ];
  const isFolded = row.event === 'folded' || (before.isFolded && STAYING.has(row.event));
  const token = isClaim ? row.token : before.token;
  return { state, attempt, token, isFolded, problems: [...before.problems, ...problems] };
}

/** Where an event may lead to more than one state, its row decides; a row that changes nothing must not. */
function stateOf(before: Folded, row: HistoryRow): JobState | null {
  return row.event === 'changed' || row.event === 'late' ? before.state : row.state;
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
  'cancel-asked',
]);

function tokenProblems(before: Folded, row: HistoryRow, isAfterGap: boolean): readonly string[] {
  if (row.event === 'claimed') {
    const grows = row.token !== null && (before.token === null || row.token > before.token);
    return grows ? [] : [`token ${row.token} was given out after ${before.token}`];
  }
  if (isAfterGap || !OF_AN_ATTEMPT.has(row.event) || row.token === before.token) return [];
  return [`${row.event} was accepted under token ${row.token}, but the newest was ${before.token}`];
}
