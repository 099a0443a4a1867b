/**
 * Maintenance by whoever works: every few seconds one bounded step, and more while there is more to do.
 *
 * A store does one thing at a time, so a settlement waits behind a step: steps are short, a millisecond or two, and others
 * come in between. Where a node runs it does the same; two at it do no harm, since each step is atomic.
 */
import type { Store } from '../core/store.ts';

const EVERY_MS = 10_000;
const STEP = 50;

export interface Upkeep {
  stop(): void;
}

export function startUpkeep(store: Store, onTrouble: (error: unknown) => void, everyMs = EVERY_MS): Upkeep {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  const step = async (): Promise<void> => {
    const { more } = await store.jobs.maintain({ limit: STEP });
    plan(more ? 0 : everyMs);
  };
  const plan = (ms: number): void => {
    if (isStopped) return;
    timer = setTimeout(() => {
      step().catch((error: unknown) => {
        onTrouble(error);
        plan(everyMs);
      });
    }, ms);
    timer.unref();
  };
  plan(everyMs * Math.random());
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
