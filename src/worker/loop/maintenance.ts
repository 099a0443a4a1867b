/**
 * Maintenance of the store by every working process: one bounded step every few seconds, and more while there is more to do.
 *
 * A store does one thing at a time, so a settlement may wait behind a step. Steps therefore take about a millisecond, and
 * a pause of the same length follows each. A process that falls behind takes larger steps, so that the store keeps its
 * size at any rate of new jobs. A node does the same; several at once do no harm, since each step is atomic.
 */
import type { Store } from '../../core/ports/store.ts';
import { monotonicMs } from '../outcome/deadline.ts';

const EVERY_MS = 10_000;
const STEP = 20;
/** The step doubles with every interval that maintenance is behind, up to this. */
const LARGEST_STEP = 320;

export interface Maintenance {
  stop(): void;
}

export function startMaintenance(store: Store, onTrouble: (error: unknown) => void, everyMs = EVERY_MS): Maintenance {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  /** Since when one step has not been enough. */
  let behindSince: number | null = null;
  const step = async (): Promise<void> => {
    const startedAt = monotonicMs();
    behindSince ??= startedAt;
    const { more } = await store.jobs.maintain({ limit: stepAfter(startedAt - behindSince, everyMs) });
    if (!more) behindSince = null;
    plan(more ? monotonicMs() - startedAt : everyMs);
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

export function stepAfter(behindMs: number, everyMs: number): number {
  return Math.min(LARGEST_STEP, STEP * 2 ** Math.floor(behindMs / everyMs));
}
