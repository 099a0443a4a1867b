/** The usual run time of each queue, cached for a minute: it changes slowly and is read often. */
import type { Store } from '../../core/ports/store.ts';
import type { UsualRun } from '../../wire/usual-run.ts';
import { usualRun } from '../../wire/usual-run.ts';
import type { ServerContext } from './context.ts';

const FRESH_MS = 60_000;
const MAX_QUEUES = 10_000;

interface Cached {
  readonly at: number;
  readonly usual: Promise<UsualRun | null>;
}

const cache = new WeakMap<Store, Map<string, Cached>>();

export function usualRunOf({ store, now }: ServerContext, queue: string): Promise<UsualRun | null> {
  const queues = cache.get(store) ?? new Map<string, Cached>();
  cache.set(store, queues);
  const found = queues.get(queue);
  if (found !== undefined && Math.abs(now() - found.at) < FRESH_MS) return found.usual;
  if (queues.size >= MAX_QUEUES) queues.clear();
  const usual = store.jobs.insight({ kind: 'statistics', queue }).then(usualRun);
  queues.set(queue, { at: now(), usual });
  usual.catch(() => queues.delete(queue));
  return usual;
}
