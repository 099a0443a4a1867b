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

/** The object that emits the events, and the queues that concern it. */
export interface EventTarget {
  hasListener(queue: string): boolean;
  worksOn(queue: string): boolean;
  emit(queue: string, type: WorqrEventType, message: string): void;
}

/** Emits one after the other, so that events of one queue keep their order. */
export async function emitEvents(
  longhaul: Longhaul,
  events: readonly StoreEvent[],
  target: EventTarget,
): Promise<void> {
  const heard = events.filter(({ queue }) => target.hasListener(queue));
  const cancelled = new Set<string>();
  for (const event of heard) {
    if (event.type === 'completed') await emitDone(longhaul, event, target);
    else if (event.type === 'cancel-asked' || event.type === 'cancelled') {
      const task = await cancelledTask(longhaul, event);
      if (task !== null) cancelled.add(JSON.stringify([event.queue, task]));
    } else if (event.type === 'queue') await emitDelete(longhaul, event, target);
  }
  // One call cancels all equal tasks, and their events come together.
  for (const each of cancelled) {
    const [queue, task] = JSON.parse(each) as [string, string];
    target.emit(queue, 'cancel', task);
  }
  const withWork = heard.filter(
    ({ queue, state, type }) => state === 'waiting' && type !== 'progress' && target.worksOn(queue),
  );
  for (const queue of new Set(withWork.map(({ queue }) => queue))) {
    const ofQueue = withWork.filter((event) => event.queue === queue);
    if (ofQueue.every(({ type }) => type === 'added')) target.emit(queue, 'work', String(ofQueue.length));
    else await emitWork(longhaul, queue, target);
  }
}

/** Emits the number of waiting tasks, if any: after tasks returned, and on request. */
export async function emitWork(longhaul: Longhaul, queue: string, target: EventTarget): Promise<void> {
  const count = await countWaiting(longhaul, queue);
  if (count > 0) target.emit(queue, 'work', String(count));
}

export async function countWaiting(longhaul: Longhaul, queue: string): Promise<number> {
  const { waiting, scheduled } = await longhaul.queue(queue).count();
  return waiting - scheduled;
}

async function emitDone(longhaul: Longhaul, { id, queue }: StoreEvent, target: EventTarget): Promise<void> {
  const [[job], rows] = await Promise.all([longhaul.store.jobs.find([id]), longhaul.history(id)]);
  if (job === null || job === undefined) return;
  const workerId = rows.findLast(({ event }) => event === 'completed')?.by ?? null;
  const result: unknown = JSON.parse(job.result ?? 'null');
  target.emit(queue, 'done', JSON.stringify({ workerId, task: taskOf(job), ...(result !== null && { result }) }));
}

/** Returns the task of a cancel; null when a running task has ended whose cancel was emitted before. */
async function cancelledTask(longhaul: Longhaul, { id, type }: StoreEvent): Promise<string | null> {
  const [[job], rows] = await Promise.all([longhaul.store.jobs.find([id]), longhaul.history(id)]);
  const wasAsked = rows.some(({ event }) => event === 'cancel-asked');
  return job && (type === 'cancel-asked' || !wasAsked) ? taskOf(job) : null;
}

async function emitDelete({ store }: Longhaul, { queue }: StoreEvent, target: EventTarget): Promise<void> {
  if ((await store.records.get(QUEUE_RECORD, queue)) === null) target.emit(queue, 'delete', '');
}
