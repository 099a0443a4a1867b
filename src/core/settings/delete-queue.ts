/**
 * Deletes a queue: its settings, its jobs, and whatever a store keeps so that the queue stays deleted.
 *
 *     record says `deleted` ──▶ no job is added or started ──▶ jobs deleted, a page at a time
 *
 * Invariant: the record is written before the first job is deleted, so a job that is added meanwhile is refused and
 * never left behind. A queue exists again when its settings are written again; a queue that was never deleted needs
 * none.
 */

import { SYSTEM_QUEUES } from '../job/relay-request.ts';
import type { QueueCounts } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuse } from '../ports/refusal.ts';
import type { Store } from '../ports/store.ts';
import type { QueueState, SetSettings } from './settings.ts';
import { QUEUE_RECORD, settingsIn } from './settings.ts';

const PAGE = 500;
const DELETED: SetSettings = { state: 'deleted' };

export type DeletedQueue = { readonly ok: true; readonly jobs: number } | Refused;

/** Deletes a queue with all its jobs. Refused while one of its jobs runs; the queue is then unchanged. */
export async function deleteQueue(store: Store, queue: string): Promise<DeletedQueue> {
  const { records } = store;
  if (SYSTEM_QUEUES.includes(queue)) return refuseDelete(queue, 'it is a system queue');
  const running = await runningIn(store, queue);
  if (running > 0) return refuseRunning(queue, running);
  const before = await records.get(QUEUE_RECORD, queue);
  const put = { kind: QUEUE_RECORD, key: queue, value: JSON.stringify(DELETED), ifVersion: before?.version ?? 0 };
  const marked = await records.put(put);
  if (!marked.ok) return marked;
  // A job may have started since the first count; from the put on none does.
  const started = await runningIn(store, queue);
  if (started === 0) return { ok: true, jobs: await deleteJobs(store, queue) };
  const ifVersion = marked.version;
  if (before === null) await records.delete(QUEUE_RECORD, queue, { ifVersion });
  else await records.put({ kind: QUEUE_RECORD, key: queue, value: before.value, ifVersion });
  return refuseRunning(queue, started);
}

async function runningIn({ jobs }: Store, queue: string): Promise<number> {
  const [counts] = await jobs.count([queue]);
  return counts?.running ?? 0;
}

async function deleteJobs({ jobs }: Store, queue: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    const page = await jobs.list({ queue, order: 'newest', limit: PAGE });
    const answers = await jobs.delete(page.jobs.map(({ id }) => id));
    const gone = answers.filter(({ ok }) => ok).length;
    deleted += gone;
    if (page.next === null || gone === 0) return deleted;
  }
}

function refuseRunning(queue: string, running: number): Refused {
  return refuseDelete(
    queue,
    `${running === 1 ? '1 of its jobs is' : `${running} of its jobs are`} running; cancel first`,
  );
}

function refuseDelete(queue: string, why: string): Refused {
  const { refusal } = refuse('wrong-state', `queue ${queue}`);
  return { ok: false, refusal: { ...refusal, message: `queue ${queue} cannot be deleted: ${why}` } };
}

/** Returns the state in which a queue accepts no jobs, or null. */
export function closedState({ state }: { readonly state: QueueState }): 'down' | 'deleted' | null {
  return state === 'down' || state === 'deleted' ? state : null;
}

export const isDeleted = (set: SetSettings | undefined): boolean => set?.state === 'deleted';

/**
 * Returns the settings of a queue; undefined if it has no record or was deleted, so that its settings start from the
 * defaults.
 */
export function liveSettings(record: { readonly value: string } | null | undefined): SetSettings | undefined {
  const set = settingsIn(record);
  return isDeleted(set) ? undefined : set;
}

/** Returns the queues that were deleted. A store still counts them; views leave them out. */
export async function deletedQueues({ records }: Store): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind: QUEUE_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    for (const record of page) if (isDeleted(settingsIn(record))) found.add(record.key);
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}

export function totalJobs({ draft, waiting, running, done, failed, cancelled }: QueueCounts): number {
  return draft + waiting + running + done + failed + cancelled;
}
