/**
 * What hooks are to tell, written in the very step in which it happens: no crash lies between a job's end and the job of
 * the queue `hooks` that tells of it.
 *
 * Invariant: a queue that is down, paused or full of others keeps none of them out.
 */

import type { HistoryRow } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import { born, keyAddress } from '../lifecycle/lifecycle.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import type { HookNews } from '../webhooks/webhook.ts';
import { DEFAULT_EVERY, eventId, hookJob, hooksOf, newsOf, onceId, stepReached } from '../webhooks/webhook.ts';
import { inLine } from './enqueue.ts';

/** After a change of a job, which is in its record already. */
export function tellHooks(table: Table, job: Job, row: HistoryRow): void {
  const hooks = hooksOf(job, table.settings(job.queue));
  const news = hooks.length === 0 ? null : newsOf(row);
  if (news === null) return;
  for (const hook of hooks)
    if (hook.on.includes(news.event)) addInLine(table, hookJob(job, hook, news, freeId(table, job, news)), row.at);
}

/** Two hooks may want to hear of one event, and a job may be cancelled twice in one millisecond. */
function freeId(table: Table, job: Job, news: HookNews): string {
  const id = eventId(job, news);
  let free = id;
  for (let count = 2; table.get(free) !== undefined; count += 1) free = `${id}~${count}`;
  return free;
}

/** After a heartbeat: each step of an attempt is told once, also when the progress goes back and comes again. */
export function tellProgress(table: Table, before: Job, after: Job, now: number): void {
  for (const [place, hook] of hooksOf(after, table.settings(after.queue)).entries()) {
    const { every = DEFAULT_EVERY } = hook;
    const step = stepReached(before.progress?.percent ?? null, after.progress?.percent ?? null, every);
    if (step === null || !hook.on.includes('progress')) continue;
    const id = onceId(after, `progress${step}`, place);
    const news = { event: 'progress', at: now, percent: step } as const;
    if (table.get(id) === undefined) addInLine(table, hookJob(after, hook, news, id), now);
  }
}

/** Adds a job that waits for whoever holds its unique key, and holds it from then on. */
export function addInLine(table: Table, input: NewJob, now: number): Job {
  const { unique = null, queue } = input;
  const address = unique === null ? '' : keyAddress(unique, queue);
  const holder = unique === null ? undefined : table.get(table.keyHolder(address, now) ?? '');
  const before = holder === undefined || isEnded(holder.state) ? undefined : holder;
  const parents = before === undefined ? null : { of: 1, open: 1, bad: 0 };
  const birth = born(input, { now, seq: table.takeSeq(), settings: table.settings(queue), parents });
  const { job, row } = inLine(table, birth);
  table.insert(job, row);
  if (before !== undefined) {
    table.setEdge(before, job, 'open');
    table.replace(before, { ...before, dependents: before.dependents + 1 }, null);
  }
  if (holder !== undefined) table.releaseKey(address, holder.id);
  if (unique !== null) table.takeKey(address, job.id, null);
  table.emit({ type: 'added', id: job.id, queue, state: job.state });
  return job;
}
