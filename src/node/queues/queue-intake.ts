/** Whether a queue accepts jobs from other nodes: it must be known here and up. Reads only. */
import { SYSTEM_QUEUES } from '../../core/job/relay-request.ts';
import type { Store } from '../../core/ports/store.ts';
import { QUEUE_RECORD, settingsIn, settingsOf } from '../../core/settings/settings.ts';

export interface QueueIntake {
  readonly store: Store;
  /** Returns whether a queue is defined by a file of this node. */
  hasQueue(name: string): boolean;
}

export type IntakeState = 'open' | 'unknown' | 'paused' | 'down';

/** A queue is known if it has settings, a file, jobs, or a worker. */
export async function intakeOf({ store, hasQueue }: QueueIntake, queue: string): Promise<IntakeState> {
  const record = await store.records.get(QUEUE_RECORD, queue);
  const isKnown = record !== null || SYSTEM_QUEUES.includes(queue) || hasQueue(queue);
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
