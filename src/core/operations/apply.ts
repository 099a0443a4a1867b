/** Carries a transition out: the record, its history, what is counted of it, its key, its throttles, the event and its hooks, always all. */
import type { Job } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { keyAddress, releasesKey } from '../lifecycle/lifecycle.ts';
import type { StoreEvent, Target } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { measurementOf } from '../statistics/statistics.ts';
import { inLine } from './enqueue.ts';
import { tellHooks } from './outbox.ts';
import { followThrottles } from './throttles.ts';

export function apply(table: Table, before: Job, transition: Transition, now: number): void {
  const change = inLine(table, transition, before);
  const { job: after, row } = change;
  const measurement = measurementOf(before, change);
  table.replace(before, after, row);
  if (measurement !== null) table.measure(measurement);
  followKey(table, before, after, now);
  followThrottles(table, before, after);
  table.emit(eventOf(after, row.event));
  tellHooks(table, after, row);
}

export function eventOf(job: Job, type: StoreEvent['type']): StoreEvent {
  return { type, id: job.id, queue: job.queue, state: job.state };
}

/** A key that a job holds ends with it or goes along to its next queue. */
function followKey(table: Table, before: Job, after: Job, now: number): void {
  const { unique } = before;
  if (unique === null) return;
  const from = keyAddress(unique, before.queue);
  const hasMoved = from !== keyAddress(unique, after.queue);
  const isOver = releasesKey(unique, after.state);
  const isKept = hasMoved && !isOver && holdsKey(table, before, now);
  // Also when its period is over: were the clock set back, a key left here would be held by a job that is elsewhere.
  if (isOver || hasMoved) table.releaseKey(from, before.id);
  if (isKept) takeKey(table, after, now);
}

export function holdsKey(table: Table, { id, queue, unique }: Job, now: number): boolean {
  return unique !== null && table.keyHolder(keyAddress(unique, queue), now) === id;
}

/** The job that stands in the way of this one's unique key in that queue, if any. */
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

/** Takes the key if it is free. A period is counted from the first taking. */
export function takeKey(table: Table, job: Job, now: number): void {
  if (job.unique === null) return;
  const address = keyAddress(job.unique, job.queue);
  if (table.keyHolder(address, now) !== undefined) return;
  table.takeKey(address, job.id, job.unique.until === 'period' ? now + job.unique.periodMs : null);
}

/** The job a caller means, or why it cannot be meant. */
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
