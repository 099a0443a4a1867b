/** Finds queues in which jobs wait and that no worker works on. */
import { isWithoutWorker, workedQueues } from '../../core/limits/without-worker.ts';
import type { QueueCounts } from '../../core/ports/job-store.ts';
import { plural } from '../../wire/spans.ts';
import type { Target } from './open-target.ts';

/** Settings and workers are read only if a queue is in doubt. */
export async function queuesWithoutWorker(
  { longhaul }: Target,
  counts: readonly QueueCounts[],
): Promise<readonly QueueCounts[]> {
  const inDoubt = counts.filter((each) => isWithoutWorker(each, { state: 'up' }, workedQueues([])));
  if (inDoubt.length === 0) return [];
  const worked = workedQueues(await longhaul.store.jobs.workers());
  const found = await Promise.all(
    inDoubt.map(async (each) => isWithoutWorker(each, await longhaul.queue(each.queue).settings(), worked)),
  );
  return inDoubt.filter((_, place) => found[place]);
}

/** Returns `2 jobs of queue films wait: no worker is registered for it`. */
export function withoutWorkerText({ queue, waiting }: QueueCounts): string {
  return `${plural(waiting, 'job')} of queue ${queue} ${waiting === 1 ? 'waits' : 'wait'}: no worker is registered for it`;
}
