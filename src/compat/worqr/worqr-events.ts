/**
 * Emits events of the store as Worqr does: `worqr.on(<queue>, (type, message))` with the types `work`, `done`, `cancel` and
 * `delete`. Queues without a listener cost nothing.
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

/** One after the other, so that events of one queue keep their order. */
export async function tellEvents(longhaul: Longhaul, events: readonly StoreEvent[], audience: Audience): Promise<void> {
  const heard = events.filter(({ queue }) => audience.isHeard(queue));
  const cancelled = new Set<string>();
  for (const event of heard) {
    if (event.type === 'completed') await tellDone(longhaul, event, audience);
    else if (event.type === 'cancel-asked' || event.type === 'cancelled') {
      const task = await cancelledTask(longhaul, event);
      if (task !== null) cancelled.add(JSON.stringify([event.queue, task]));
    } else if (event.type === 'queue') await tellDelete(longhaul, event, audience);
  }
  // One call cancels all equal tasks, and their events come together.
  for (const each of cancelled) {
    const [queue, task] = JSON.parse(each) as [string, string];
    audience.tell(queue, 'cancel', task);
  }
  const withWork = heard.filter(
    ({ queue, state, type }) => state === 'waiting' && type !== 'progress' && audience.worksOn(queue),
  );
  for (const queue of new Set(withWork.map(({ queue }) => queue))) {
    const ofQueue = withWork.filter((event) => event.queue === queue);
    if (ofQueue.every(({ type }) => type === 'added')) audience.tell(queue, 'work', String(ofQueue.length));
    else await tellWork(longhaul, queue, audience);
  }
}

/** Tells how many tasks wait, if any: after tasks came back, and on request. New tasks are told with their number. */
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

/** Returns the task of a cancel; null when its worker has let a running task go, which was told before. */
async function cancelledTask(longhaul: Longhaul, { id, type }: StoreEvent): Promise<string | null> {
  const [[job], rows] = await Promise.all([longhaul.store.jobs.find([id]), longhaul.history(id)]);
  const wasAsked = rows.some(({ event }) => event === 'cancel-asked');
  return job && (type === 'cancel-asked' || !wasAsked) ? taskOf(job) : null;
}

async function tellDelete({ store }: Longhaul, { queue }: StoreEvent, audience: Audience): Promise<void> {
  if ((await store.records.get(QUEUE_RECORD, queue)) === null) audience.tell(queue, 'delete', '');
}
