/** Commits the drafts of rows that are sent, and deletes the rows. */
import type { TargetResult } from '../../core/ports/job-store.ts';
import { DRAFT_TTL_MS } from '../../core/settings/settings.ts';
import { CALL_DEADLINE_MS, withDeadline } from '../../worker/outcome/deadline.ts';
import type { OutboxRow } from './outbox-table.ts';
import type { RefusedRow, RoundContext } from './refused-rows.ts';
import { deleteDrafts, fail, putBack } from './refused-rows.ts';

/** Clocks differ: this long before a draft expires, the answer `not-found` no longer says that its job has run. */
const EXPIRY_MARGIN_MS = 24 * 60 * 60_000;

/** Commits the drafts of rows that are sent, and deletes the rows. `fresh` are the rows that this round marked. */
export async function commitDrafts(
  context: RoundContext,
  rows: readonly OutboxRow[],
  fresh: ReadonlySet<OutboxRow>,
): Promise<void> {
  if (rows.length === 0) return;
  const { table, holder, emit } = context;
  const ids = rows.map(({ id }) => id);
  const answers = await withDeadline(context.store.jobs.commit(ids), CALL_DEADLINE_MS);
  const { done, twice, lost, unknown, later } = groupByFate(rows, answers, fresh);
  if (twice.length > 0) await deleteDrafts(context, twice);
  for (const { id, queue } of twice) emit({ type: 'duplicate', id, queue });
  await table.remove(holder, [...done, ...twice]);
  await table.markWaiting(holder, lost);
  for (const row of unknown) await fail(context, row, UNKNOWN);
  await putBack(context, later);
  if (done.length > 0) emit({ type: 'relayed', ids: done.map(({ id }) => id) });
}

const UNKNOWN =
  'a relay stopped while it committed this job, more than 6 days ago, and the store has no such job: it may have run and been deleted, or its draft has expired. Retry the row to add the job again, or delete the row';

interface Fates {
  readonly done: OutboxRow[];
  /** Another job holds the unique key. */
  readonly twice: OutboxRow[];
  /** The store lost the draft that this round added. It was not committed, so it has not run. */
  readonly lost: OutboxRow[];
  readonly unknown: OutboxRow[];
  readonly later: RefusedRow[];
}

function groupByFate(
  rows: readonly OutboxRow[],
  answers: readonly TargetResult[],
  fresh: ReadonlySet<OutboxRow>,
): Fates {
  const fates: Fates = { done: [], twice: [], lost: [], unknown: [], later: [] };
  for (const [index, row] of rows.entries()) {
    const answer = answers[index];
    if (answer === undefined) continue;
    if (answer.ok) fates.done.push(row);
    else if (answer.refusal.code === 'key-taken') fates.twice.push(row);
    else if (answer.refusal.code !== 'not-found') fates.later.push({ row, refusal: answer.refusal });
    else if (fresh.has(row)) fates.lost.push(row);
    else if (row.sentForMs > DRAFT_TTL_MS - EXPIRY_MARGIN_MS) fates.unknown.push(row);
    else fates.done.push(row);
  }
  return fates;
}
