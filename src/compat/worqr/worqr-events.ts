/**
 * What happens in the store, told as Worqr tells it: `worqr.on(<queue>, (type, message))` with the types `work`, `done`,
 * `cancel` and `delete`. Only queues that somebody listens to cost anything.
 */
import type { StoreEvent } from '../../core/ports/job-store.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import type { Longhaul } from '../../library/longhaul.ts';
import { taskOf } from './presence.ts';

/** The types of the events that a queue emits. */
export type WorqrEventType = 'work' | 'done' | 'cancel' | 'delete';

export interface Audience {
  isHeard(queue: string): boolean;
  worksOn(queue: string): boolean;
  tell(queue: string, type: WorqrEventType, message: string): void;
}

/** One after the other, so that news of one queue keeps its order. */
export async function tellEvents(longhaul: Longhaul, events: readonly StoreEvent[], audience: Audience): Promise<void> {
  const heard = events.filter(({ queue }) => audience.isHeard(queue));
  for (const event of heard) {
    if (event.type === 'completed') await tellDone(longhaul, event, audience);
    else if (event.type === 'cancel-asked' || event.type === 'cancelled') await tellCancel(longhaul, event, audience);
    else if (event.type === 'queue') await tellDelete(longhaul, event, audience);
  }
  const withWork = heard.filter(
    ({ queue, state, type }) => state === 'waiting' && type !== 'progress' && audience.worksOn(queue),
  );
  for (const queue of new Set(withWork.map(({ queue }) => queue))) await tellWork(longhaul, queue, audience);
}

export async function tellWork(longhaul: Longhaul, queue: string, audience: Audience): Promise<void> {
  const count = await countWaiting(longhaul, queue);
  if (count > 0) audience.tell(queue, 'work', String(count));
}

export async function countWaiting(longhaul: Longhaul, queue: string): Promise<number> {
  const { waiting, scheduled } = await longhaul.queue(queue).count();
  return waiting - scheduled;
}

async function tellDone(longhaul: Longhaul, { id, queue }: StoreEvent, audience: Audience): Promise<void> {
  const [[job], rows] = await Promise.all([longhaul.store.jobs.find([id]), longhaul.history(id)]);
  if (job === null || job === undefined) return;
  const workerId = rows.findLast(({ event }) => event === 'completed')?.by ?? null;
  const result: unknown = JSON.parse(job.result ?? 'null');
  audience.tell(queue, 'done', JSON.stringify({ workerId, task: taskOf(job), ...(result !== null && { result }) }));
}

/** A running task is told of when it is asked for, and not again when its worker has let it go. */
async function tellCancel(longhaul: Longhaul, { id, queue, type }: StoreEvent, audience: Audience): Promise<void> {
  const [[job], rows] = await Promise.all([longhaul.store.jobs.find([id]), longhaul.history(id)]);
  const wasAsked = rows.some(({ event }) => event === 'cancel-asked');
  if (job && (type === 'cancel-asked' || !wasAsked)) audience.tell(queue, 'cancel', taskOf(job));
}

async function tellDelete({ store }: Longhaul, { queue }: StoreEvent, audience: Audience): Promise<void> {
  if ((await store.records.get(QUEUE_RECORD, queue)) === null) audience.tell(queue, 'delete', queue);
}
