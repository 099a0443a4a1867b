/** Whether a queue takes what comes from outside: it must be known here, and up. Looks and changes nothing. */
import { BUILT_IN_QUEUES } from '../../core/job/relay-request.ts';
import type { Store } from '../../core/ports/store.ts';
import { QUEUE_RECORD, settingsIn, settingsOf } from '../../core/settings/settings.ts';

export interface QueueIntake {
  readonly store: Store;
  /** Queues that this node knows by their files. */
  hasQueue(name: string): boolean;
}

export type IntakeState = 'open' | 'unknown' | 'paused' | 'down';

/** A queue is known by its settings, by its file, by its jobs, or by a worker that waits for some. */
export async function intakeOf({ store, hasQueue }: QueueIntake, queue: string): Promise<IntakeState> {
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
