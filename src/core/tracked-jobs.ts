/**
 * Tracked jobs: those that somebody wants to keep an eye on. A mark is a record of kind `tracked` under the job's id, so
 * that every store has them and a mark outlives nothing but itself: a job that is gone shows as gone until it is unmarked.
 */
import type { Job } from './job.ts';
import type { Records } from './records.ts';
import { type Refused, refuse } from './refusal.ts';
import type { Store } from './store.ts';

export const TRACKED_RECORD = 'tracked';
const PAGE = 500;

export interface TrackedJob {
  readonly id: string;
  readonly trackedAt: number;
  /** Null once it was deleted or pruned. */
  readonly job: Job | null;
}

export async function track({ jobs, records }: Store, id: string): Promise<{ readonly ok: true } | Refused> {
  const [job] = await jobs.find([id]);
  if (job === null || job === undefined) return refuse('not-found', `job ${id}`);
  if ((await records.get(TRACKED_RECORD, id)) === null)
    await records.put({ kind: TRACKED_RECORD, key: id, value: '{}' });
  return { ok: true };
}

/** Also of a job that is gone. */
export async function untrack({ records }: Store, id: string): Promise<{ readonly ok: true } | Refused> {
  if ((await records.get(TRACKED_RECORD, id)) === null) return refuse('not-found', `tracked job ${id}`);
  await records.delete(TRACKED_RECORD, id);
  return { ok: true };
}

/** By the time they were marked, the latest first. */
export async function trackedJobs({ jobs, records }: Store): Promise<readonly TrackedJob[]> {
  const marks = await marksIn(records);
  const found: (Job | null)[] = [];
  for (let at = 0; at < marks.length; at += PAGE)
    found.push(...(await jobs.find(marks.slice(at, at + PAGE).map(({ id }) => id))));
  const tracked = marks.map((mark, place) => ({ ...mark, job: found[place] ?? null }));
  return tracked.sort((a, b) => b.trackedAt - a.trackedAt);
}

async function marksIn(records: Records): Promise<readonly { readonly id: string; readonly trackedAt: number }[]> {
  const marks: { id: string; trackedAt: number }[] = [];
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind: TRACKED_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    marks.push(...page.map(({ key, updatedAt }) => ({ id: key, trackedAt: updatedAt })));
    if (page.length < PAGE) return marks;
    after = page.at(-1)?.key;
  }
}
