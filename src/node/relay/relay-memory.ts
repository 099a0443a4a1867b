/**
 * What came in by relay, remembered longer than the jobs themselves: a record each, so that a sender whose answer was
 * lost hears "committed" again, also when the job has long been pruned or deleted.
 *
 *     preparing ──▶ committing ──▶ committed
 *
 * Invariant: `committing` is written before the draft is committed and `committed` after it. So a job that is gone while
 * its record says `committing` was committed: it could not have ended otherwise but by somebody's hand.
 */
import type { Records } from '../../core/ports/records.ts';

export const RELAYED_RECORD = 'relayed-in';
const DAY_MS = 86_400_000;
/** Counted from the last word about it. A sender that comes back later than this may deliver again. */
export const RELAY_MEMORY_MS = 35 * DAY_MS;

export interface RelayedIn {
  readonly queue: string;
  /** The identity of the store that it came from. */
  readonly source: string;
  /** The address of the job that it began as. */
  readonly origin: string;
  readonly hops: number;
  readonly phase: 'preparing' | 'committing' | 'committed';
}

export async function recallRelayed(records: Records, id: string): Promise<RelayedIn | null> {
  const record = await records.get(RELAYED_RECORD, id);
  return record === null ? null : (JSON.parse(record.value) as RelayedIn);
}

export async function rememberRelayed(records: Records, id: string, relayed: RelayedIn, now: number): Promise<void> {
  const value = JSON.stringify(relayed);
  await records.put({ kind: RELAYED_RECORD, key: id, value, expiresAt: now + RELAY_MEMORY_MS });
}
