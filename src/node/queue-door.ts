/** Whether a queue takes what comes from outside: it must be known here, and up. Looks and changes nothing. */
import { BUILT_IN_QUEUES } from '../core/relay-order.ts';
import { QUEUE_RECORD, settingsIn, settingsOf } from '../core/settings.ts';
import type { Store } from '../core/store.ts';

export interface QueueDoor {
  readonly store: Store;
  /** Queues that this node knows by their files. */
  hasQueue(name: string): boolean;
}

export type DoorState = 'open' | 'unknown' | 'paused' | 'down';

/** A queue is known by its settings, by its file, by its jobs, or by a worker that waits for some. */
export async function doorOf({ store, hasQueue }: QueueDoor, queue: string): Promise<DoorState> {
  const record = await store.records.get(QUEUE_RECORD, queue);
  const isKnown = record !== null || BUILT_IN_QUEUES.includes(queue) || hasQueue(queue);
  if (!isKnown && !(await isInUse(store, queue))) return 'unknown';
  const { state } = settingsOf(settingsIn(record));
  if (state === 'deleted') return 'unknown';
  return state === 'up' ? 'open' : state;
}

async function isInUse({ jobs }: Store, queue: string): Promise<boolean> {
  const [counts] = await jobs.count([queue]);
  const { queue: _name, ...numbers } = counts ?? { queue };
  if (Object.values(numbers).some((number) => number > 0)) return true;
  return (await jobs.workers()).some(({ queues, isLost }) => !isLost && queues.includes(queue));
}
