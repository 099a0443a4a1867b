/**
 * RQ's queue `cleaner`: a message deletes done and relayed messages, and drafts, by their age. `param1` names a queue or
 * is ALLQUEUES, and `param2` holds one digit of days (default 2). Retention deletes ended jobs without it.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import { DAY_MS } from '../../core/statistics/histogram.ts';
import type { AttemptOutcome } from '../../worker/attempt/run-outcome.ts';
import { dataOf } from './rq-view.ts';

export const CLEANER_QUEUE = 'cleaner';
const ALL_QUEUES = 'ALLQUEUES';
const DEFAULT_DAYS = 2;
const PAGE = 500;

export async function cleanerAttempt(store: Store, job: RunningJob, now: number): Promise<AttemptOutcome> {
  const { param1, param2 } = dataOf(job);
  if (typeof param1 !== 'string' || param1 === '')
    return failed('param1 is missing: it names a queue, or is ALLQUEUES');
  const days = Number(/\d/.exec(JSON.stringify(param2) ?? '')?.[0] ?? DEFAULT_DAYS);
  const counted = await store.jobs.count();
  const names = counted.map(({ queue }) => queue);
  if (param1 !== ALL_QUEUES && !names.includes(param1)) return failed(`the specified queue ${param1} does not exist`);
  let deleted = 0;
  for (const queue of param1 === ALL_QUEUES ? names : [param1]) {
    for (const state of ['done', 'draft'] as const)
      deleted += await deleteOld(store, { queue, state, before: now - days * DAY_MS });
  }
  return { kind: 'complete', result: JSON.stringify({ status: `deleted ${deleted} messages` }) };
}

/** A job that another caller changes meanwhile is not deleted. */
async function deleteOld(
  { jobs }: Store,
  old: { readonly queue: string; readonly state: 'done' | 'draft'; readonly before: number },
): Promise<number> {
  let deleted = 0;
  for (let after: string | undefined; ; ) {
    const page = await jobs.list({ ...old, order: 'newest', limit: PAGE, ...(after !== undefined && { after }) });
    const results = page.jobs.length === 0 ? [] : await jobs.delete(page.jobs.map(({ id }) => id));
    deleted += results.filter(({ ok }) => ok).length;
    if (page.next === null) return deleted;
    after = page.next;
  }
}

function failed(message: string): AttemptOutcome {
  return { kind: 'fail', failure: { group: 'cleaner', message, detail: null }, final: true };
}
