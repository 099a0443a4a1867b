/**
 * Maintenance by whoever works: every few seconds one bounded step, and more while there is more to do.
 *
 * A store does one thing at a time, so a settlement may have to wait behind a step: steps are short, about a millisecond,
 * and each is followed by a pause as long as it took. Who does not get through in time takes larger ones, so that a store
 * is kept at its size whatever comes in. Where a node runs it does the same; two at it do no harm, since each step is atomic.
 */
import type { Store } from '../../core/ports/store.ts';
import { monotonicMs } from '../outcome/monotonic.ts';

const EVERY_MS = 10_000;
const STEP = 20;
/** Twice as large for each time that it should have been through already, up to this. */
const LARGEST_STEP = 320;

export interface Maintenance {
  stop(): void;
}

export function startMaintenance(store: Store, onTrouble: (error: unknown) => void, everyMs = EVERY_MS): Maintenance {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  /** When there began to be more than one step could do. */
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
