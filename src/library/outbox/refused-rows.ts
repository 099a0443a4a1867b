/** What happens to rows that cannot be relayed now: they are delayed, or marked as failed until they are corrected. */
import type { RefusalCode } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import { codeOf } from '../../worker/loop/store-availability.ts';
import { CALL_DEADLINE_MS, withDeadline } from '../../worker/outcome/deadline.ts';
import type { OutboxEvent } from './outbox-event.ts';
import type { OutboxRow, OutboxTable } from './outbox-table.ts';

/** What the steps of a round share. */
export interface RoundContext {
  readonly table: OutboxTable;
  readonly store: Store;
  /** The name under which this relay holds rows. */
  readonly holder: string;
  readonly leaseMs: number;
  readonly limit: number;
  emit(event: OutboxEvent): void;
}

/** Why the store did not accept a job. */
export interface Reason {
  readonly code: RefusalCode | 'bad-input';
  readonly message: string;
}

export interface RefusedRow {
  readonly row: OutboxRow;
  readonly refusal: Reason;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;
/** A parent may be in a row that another relay holds. After this many tries it is not. */
const MAX_DEPENDENCY_TRIES = 8;

/** Whether a repeat cannot help before an operator has acted. */
export function isFinal({ row, refusal }: RefusedRow): boolean {
  if (refusal.code === 'bad-dependency') return row.tries >= MAX_DEPENDENCY_TRIES;
  return refusal.code !== 'queue-down' && refusal.code !== 'store-moving';
}

export async function putBack(context: RoundContext, refused: readonly RefusedRow[]): Promise<void> {
  const { table, holder, emit } = context;
  const groups = new Map<string, { rows: OutboxRow[]; error: string; ms: number }>();
  for (const each of refused) {
    const { row, refusal } = each;
    if (isFinal(each)) {
      await fail(context, row, refusal.message);
      continue;
    }
    const ms = Math.min(FIRST_DELAY_MS * 2 ** Math.min(row.tries, 30), MAX_DELAY_MS);
    const group = groups.get(`${ms} ${refusal.message}`) ?? { rows: [], error: refusal.message, ms };
    groups.set(`${ms} ${refusal.message}`, group);
    group.rows.push(row);
  }
  for (const { rows, error, ms } of groups.values()) {
    await table.delay(holder, rows, { error, ms });
    for (const { id, queue } of rows) emit({ type: 'delayed', id, queue, error, ms });
  }
}

/** Marks a row as failed. */
export async function fail({ table, holder, emit }: RoundContext, row: OutboxRow, error: string): Promise<void> {
  await table.fail(holder, [row], error);
  emit({ type: 'failed', id: row.id, queue: row.queue, error });
}

/** Deletes drafts that must not be committed. Without the right to delete jobs they stay, and expire after seven days. */
export async function deleteDrafts({ store, emit }: RoundContext, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  try {
    const ids = rows.map(({ id }) => id);
    await withDeadline(store.jobs.delete(ids), CALL_DEADLINE_MS);
  } catch (error) {
    if (codeOf(error) !== 'refused') throw error;
    emit({ type: 'trouble', what: 'drafts could not be deleted; they expire after seven days', error });
  }
}
