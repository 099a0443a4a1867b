/** Adds the drafts of rows that wait. Refused rows are put back; they block only later rows of their own order key. */
import type { NewJob } from '../../core/ports/job-store.ts';
import { isInputError } from '../../worker/loop/store-availability.ts';
import { CALL_DEADLINE_MS, withDeadline } from '../../worker/outcome/deadline.ts';
import type { OutboxRow } from './outbox-table.ts';
import type { Reason, RefusedRow, RoundContext } from './refused-rows.ts';
import { deleteDrafts, isFinal, putBack } from './refused-rows.ts';

/** A row with the draft that it describes. */
export interface Drafted {
  readonly row: OutboxRow;
  readonly job: NewJob;
}

const MAX_CALL_CHARS = 1024 * 1024;

/** Adds drafts. Returns the rows whose draft is in the store; refused rows are delayed, or marked as failed. */
export async function addDrafts(context: RoundContext, drafted: readonly Drafted[]): Promise<readonly OutboxRow[]> {
  const refused: RefusedRow[] = [];
  const added: { readonly row: OutboxRow; readonly isNew: boolean }[] = [];
  for (const part of parts(drafted)) {
    for (const { row, answer } of await addPart(context, part)) {
      if (answer.ok) added.push({ row, isNew: answer.outcome === 'added' });
      else refused.push({ row, refusal: answer.refusal });
    }
  }
  if (refused.length === 0) return added.map(({ row }) => row);
  const isBlocked = blockedBy(refused.filter((each) => !isFinal(each)));
  // A draft behind a refused row of its key would later be older in the store than the one before it.
  const early = added.filter(({ row }) => isBlocked(row));
  await deleteDrafts(
    context,
    early.filter(({ isNew }) => isNew).map(({ row }) => row),
  );
  await context.table.release(
    context.holder,
    early.map(({ row }) => row),
  );
  await putBack(context, refused);
  return added.map(({ row }) => row).filter((row) => !isBlocked(row));
}

/** Returns whether an earlier row of the same order key was refused for now. */
function blockedBy(refused: readonly RefusedRow[]): (row: OutboxRow) => boolean {
  const first = new Map<string, number>();
  for (const { row } of refused)
    if (row.orderKey !== null) first.set(row.orderKey, Math.min(row.seq, first.get(row.orderKey) ?? row.seq));
  return ({ orderKey, seq }) => orderKey !== null && seq > (first.get(orderKey) ?? Number.POSITIVE_INFINITY);
}

interface PartAnswer {
  readonly row: OutboxRow;
  readonly answer: { readonly ok: true; readonly outcome: string } | { readonly ok: false; readonly refusal: Reason };
}

/** Adds one part. If the store rejects the call as invalid, each job is added alone, so that only the invalid one fails. */
async function addPart(context: RoundContext, part: readonly Drafted[]): Promise<readonly PartAnswer[]> {
  try {
    const jobs = part.map(({ job }) => job);
    const answers = await withDeadline(context.store.jobs.add(jobs), CALL_DEADLINE_MS);
    return part.flatMap(({ row }, index) => {
      const answer = answers[index];
      return answer === undefined ? [] : [{ row, answer }];
    });
  } catch (error) {
    if (!isInputError(error)) throw error;
    const [only, ...others] = part;
    if (only === undefined) return [];
    if (others.length > 0) return (await Promise.all(part.map((each) => addPart(context, [each])))).flat();
    return [
      { row: only.row, answer: { ok: false, refusal: { code: 'bad-input', message: (error as Error).message } } },
    ];
  }
}

/** Splits a batch, so that no call of the store becomes too large. */
function parts(drafted: readonly Drafted[]): readonly (readonly Drafted[])[] {
  const all: Drafted[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const each of drafted) {
    chars += each.job.data.length;
    if (chars > MAX_CALL_CHARS) {
      all.push([]);
      chars = each.job.data.length;
    }
    all.at(-1)?.push(each);
  }
  return all;
}
