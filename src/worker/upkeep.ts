/**
 * Maintenance by whoever works: every few seconds one bounded step, more at once while there is more to do.
 *
 * Where a node runs it does the same; two at it do no harm, since each step is atomic.
 */
import type { Store } from '../core/store.ts';

const EVERY_MS = 10_000;
const STEP = 500;

export interface Upkeep {
  stop(): void;
}

export function startUpkeep(store: Store, onTrouble: (error: unknown) => void): Upkeep {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const step = async (): Promise<void> => {
    const { more } = await store.jobs.maintain({ limit: STEP });
    plan(more ? 0 : EVERY_MS);
  };
  const plan = (ms: number): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      step().catch((error: unknown) => {
        onTrouble(error);
        plan(EVERY_MS);
      });
    }, ms);
    timer.unref();
  };
  plan(EVERY_MS * Math.random());
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
