/**
 * Adds webhook jobs in the same step as the event itself: no crash can come between a job's end and the job of the
 * queue `hooks` that reports it.
 *
 * Invariant: a webhook job is added even if its queue is down, paused or full.
 */

import type { HistoryRow } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import { created, keyAddress } from '../lifecycle/lifecycle.ts';
import type { NewJob } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import type { WebhookEvent } from '../webhooks/webhook.ts';
import {
  DEFAULT_PROGRESS_STEP,
  eventId,
  onceEventId,
  stepReached,
  webhookEventOf,
  webhookJob,
  webhooksOf,
} from '../webhooks/webhook.ts';
import { enterQueue } from './enqueue.ts';

/** Adds the webhook jobs for a change of a job. The change is in its record already. */
export function addWebhookJobs(table: Table, job: Job, row: HistoryRow): void {
  const hooks = webhooksOf(job, table.settings(job.queue));
  const event = hooks.length === 0 ? null : webhookEventOf(job, row);
  if (event === null) return;
  for (const webhook of hooks)
    if (webhook.on.includes(event.event))
      addBehindHolder(table, webhookJob(job, webhook, event, freeId(table, job, event)), row.at);
}

/** Returns an unused id: two webhooks may want one event, and a job may be cancelled twice in one millisecond. */
function freeId(table: Table, job: Job, event: WebhookEvent): string {
  const id = eventId(job, event);
  let free = id;
  for (let count = 2; table.get(free) !== undefined; count += 1) free = `${id}~${count}`;
  return free;
}

/**
 * Adds the webhook jobs for a heartbeat: each progress step of an attempt once, even if progress goes back and returns.
 */
export function addProgressWebhooks(table: Table, before: Job, after: Job, now: number): void {
  for (const [index, webhook] of webhooksOf(after, table.settings(after.queue)).entries()) {
    const { every = DEFAULT_PROGRESS_STEP } = webhook;
    const step = stepReached(before.progress?.percent ?? null, after.progress?.percent ?? null, every);
    if (step === null || !webhook.on.includes('progress')) continue;
    const id = onceEventId(after, `progress${step}`, index);
    const event = { event: 'progress', at: now, percent: step } as const;
    if (table.get(id) === undefined) addBehindHolder(table, webhookJob(after, webhook, event, id), now);
  }
}

/** Adds a job that waits for the holder of its unique key and takes over the key. */
export function addBehindHolder(table: Table, input: NewJob, now: number): Job {
  const { unique = null, queue } = input;
  const address = unique === null ? '' : keyAddress(unique, queue);
  const holder = unique === null ? undefined : table.get(table.keyHolder(address, now) ?? '');
  const before = holder === undefined || isEnded(holder.state) ? undefined : holder;
  const parents = before === undefined ? null : { of: 1, open: 1, bad: 0 };
  const transition = created(input, { now, seq: table.takeSeq(), settings: table.settings(queue), parents });
  const { job, row } = enterQueue(table, transition);
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
