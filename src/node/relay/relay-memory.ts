/**
 * Records of relayed jobs, kept longer than the jobs themselves, so that a sender whose answer was lost gets
 * "committed" again even after the job was pruned or deleted.
 *
 *     preparing ──▶ committing ──▶ committed
 *
 * Invariant: `committing` is written before the draft is committed, and `committed` after it. A job that is missing
 * while its record is `committing` was committed, unless an operator deleted it.
 */
import type { Records } from '../../core/ports/records.ts';
import type { Store } from '../../core/ports/store.ts';

export const RELAYED_RECORD = 'relayed-in';
const DAY_MS = 86_400_000;
/** Since the last request. A sender that returns later than this may deliver again. */
export const RELAY_MEMORY_MS = 35 * DAY_MS;

export interface RelayedIn {
  readonly queue: string;
  /** Identity of the sender's store. */
  readonly source: string;
  /** Address of the original job. */
  readonly origin: string;
  readonly hops: number;
  readonly phase: 'preparing' | 'committing' | 'committed';
  /** The job that a sender delivered before it began again under this id; set only for messages of an RQ host. */
  readonly repeats?: string;
}

export async function recallRelayed(records: Records, id: string): Promise<RelayedIn | null> {
  const record = await records.get(RELAYED_RECORD, id);
  return record === null ? null : (JSON.parse(record.value) as RelayedIn);
}

export async function rememberRelayed(records: Records, id: string, relayed: RelayedIn, now: number): Promise<void> {
  const value = JSON.stringify(relayed);
  await records.put({ kind: RELAYED_RECORD, key: id, value, expiresAt: now + RELAY_MEMORY_MS });
}

/** Returns the record of a job that was committed; null when none was received, or when it still is a draft. */
export async function recallCommitted({ records, jobs }: Store, id: string, now: number): Promise<RelayedIn | null> {
  const known = await recallRelayed(records, id);
  if (known === null || known.phase === 'preparing') return null;
  if (known.phase === 'committed') return known;
  const [job] = await jobs.find([id]);
  if (job?.state === 'draft') return null;
  const committed: RelayedIn = { ...known, phase: 'committed' };
  await rememberRelayed(records, id, committed, now);
  return committed;
}
