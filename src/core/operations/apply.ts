/** Applies a transition: record, history, statistics, unique key, throttles, event and webhooks, always all of them. */
import type { Job } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { keyAddress, releasesKey } from '../lifecycle/lifecycle.ts';
import type { StoreEvent, Target } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { measurementOf } from '../statistics/statistics.ts';
import { enterQueue } from './enqueue.ts';
import { addWebhookJobs } from './outbox.ts';
import { followThrottles } from './throttles.ts';

export function apply(table: Table, before: Job, transition: Transition, now: number): void {
  const change = enterQueue(table, transition, before);
  const { job: after, row } = change;
  const measurement = measurementOf(before, change);
  table.replace(before, after, row);
  if (before.steps !== null && after.steps === null) table.clearSteps(before);
  if (measurement !== null) table.measure(measurement);
  followKey(table, before, after, now);
  followThrottles(table, before, after);
  table.emit(eventOf(after, row.event));
  addWebhookJobs(table, after, row);
}

export function eventOf(job: Job, type: StoreEvent['type']): StoreEvent {
  return { type, id: job.id, queue: job.queue, state: job.state };
}

/** Releases a key that ends with this transition, or moves it to the job's next queue. */
function followKey(table: Table, before: Job, after: Job, now: number): void {
  const { unique } = before;
  if (unique === null) return;
  const from = keyAddress(unique, before.queue);
  const hasMoved = from !== keyAddress(unique, after.queue);
  const isOver = releasesKey(unique, after.state);
  const isKept = hasMoved && !isOver && holdsKey(table, before, now);
  // Also if its period is over: after a step back of the clock, a key left here would be held by a job in another
  // queue.
  if (isOver || hasMoved) table.releaseKey(from, before.id);
  if (isKept) takeKey(table, after, now);
}

export function holdsKey(table: Table, { id, queue, unique }: Job, now: number): boolean {
  return unique !== null && table.keyHolder(keyAddress(unique, queue), now) === id;
}

/** Returns the job that holds this job's unique key in that queue, if it is another job. */
export function keyHolderAgainst(
  table: Table,
  job: Pick<Job, 'id' | 'unique'>,
  queue: string,
  now: number,
): string | undefined {
  if (job.unique === null) return undefined;
  const holder = table.keyHolder(keyAddress(job.unique, queue), now);
  return holder === job.id ? undefined : holder;
}

/** Takes the key if it is free. A period is counted from the first time it is taken. */
export function takeKey(table: Table, job: Job, now: number): void {
  if (job.unique === null) return;
  const address = keyAddress(job.unique, job.queue);
  if (table.keyHolder(address, now) !== undefined) return;
  table.takeKey(address, job.id, job.unique.until === 'period' ? now + job.unique.periodMs : null);
}

/** Returns the job that a caller addresses, or a refusal. */
export function target(table: Table, { id, attempt }: Target): Job | Refused {
  const job = table.get(id);
  if (job === undefined) return refuse('not-found', `job ${id}`);
  if (attempt !== undefined && job.attempt !== attempt) return refuse('moved-on', `job ${id}`);
  return job;
}

export function isRefused(answer: Job | Refused): answer is Refused {
  return 'ok' in answer;
}

export function isRefusal(answer: readonly Job[] | Refused): answer is Refused {
  return 'ok' in answer;
}
