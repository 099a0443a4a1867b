/**
 * One round of a relay: takes rows of an outbox and adds their jobs to the store.
 *
 *     1 take the rows    2 add drafts    3 mark the rows as sent    4 commit the drafts    5 delete the rows
 *
 * A draft cannot be claimed, and retention does not delete it. So a relay that is killed after step 2 leaves a job that
 * has not run, and the next one adds nothing for the same id. After step 3 no relay adds the draft again: one that finds
 * no job for a row that is sent knows that the job has run and was deleted.
 *
 * Invariant: a draft is committed only for a row that is durably `sent`.
 * Invariant: a draft is added only for a row that is `waiting`.
 */
import { isInputError } from '../../worker/loop/store-availability.ts';
import { monotonicMs } from '../../worker/outcome/deadline.ts';
import type { Drafted } from './add-drafts.ts';
import { addDrafts } from './add-drafts.ts';
import { commitDrafts } from './commit-drafts.ts';
import { toDraft } from './outbox-job.ts';
import type { OutboxRow } from './outbox-table.ts';
import type { RoundContext } from './refused-rows.ts';
import { fail } from './refused-rows.ts';

/** Runs one round. Returns how many rows it took. */
export async function runRound(context: RoundContext): Promise<number> {
  const { table, holder, leaseMs, limit } = context;
  const startedAt = monotonicMs();
  const rows = await table.take({ holder, leaseMs, limit });
  if (rows.length === 0) return 0;
  try {
    const drafted = await readDrafts(context, rows);
    // A relay that was suspended must not add a draft for a row that another relay may hold by now.
    if (monotonicMs() - startedAt > leaseMs / 2) return await giveBack(context, rows);
    const added = await addDrafts(context, drafted);
    const fresh = await table.markSent(holder, added);
    await commitDrafts(context, inOrder([...fresh, ...rows.filter(({ state }) => state === 'sent')]), new Set(fresh));
    return rows.length;
  } catch (error) {
    // The rows are free at once if the database answers, and otherwise when the lease is over.
    await table.release(holder, rows).catch(() => undefined);
    throw error;
  }
}

async function giveBack({ table, holder }: RoundContext, rows: readonly OutboxRow[]): Promise<number> {
  await table.release(holder, rows);
  return rows.length;
}

const inOrder = (rows: readonly OutboxRow[]): readonly OutboxRow[] => rows.toSorted((a, b) => a.seq - b.seq);

/** Returns the drafts of the rows that wait. Invalid rows are marked and block no other row. */
async function readDrafts(context: RoundContext, rows: readonly OutboxRow[]): Promise<readonly Drafted[]> {
  const drafted: Drafted[] = [];
  for (const row of rows.filter(({ state }) => state === 'waiting')) {
    try {
      drafted.push({ row, job: toDraft(row) });
    } catch (error) {
      if (!isInputError(error)) throw error;
      await fail(context, row, (error as Error).message);
    }
  }
  return drafted;
}
