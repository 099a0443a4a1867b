/** How long the jobs of each queue usually run, read again once a minute at the most: it changes slowly and is asked for often. */
import type { Store } from '../../core/ports/store.ts';
import type { UsualRun } from '../../wire/usual-run.ts';
import { usualRun } from '../../wire/usual-run.ts';
import type { ServerContext } from './context.ts';

const FRESH_MS = 60_000;
const MOST_QUEUES = 10_000;

interface Known {
  readonly at: number;
  readonly usual: Promise<UsualRun | null>;
}

const known = new WeakMap<Store, Map<string, Known>>();

export function usualRunOf({ store, now }: ServerContext, queue: string): Promise<UsualRun | null> {
  const queues = known.get(store) ?? new Map<string, Known>();
  known.set(store, queues);
  const found = queues.get(queue);
  if (found !== undefined && Math.abs(now() - found.at) < FRESH_MS) return found.usual;
  if (queues.size >= MOST_QUEUES) queues.clear();
  const usual = store.jobs.insight({ kind: 'statistics', queue }).then(usualRun);
  queues.set(queue, { at: now(), usual });
  usual.catch(() => queues.delete(queue));
  return usual;
}
