/**
 * Polls whether the store is usable, and reports once when it is closed. Workers and routes report such errors only
 * when they make a call, and only the first of a series; a node must not miss the last one.
 */
import type { Store } from '../../core/ports/store.ts';
import { codeOf } from '../../worker/loop/store-availability.ts';

const POLL_INTERVAL_MS = 1_000;

export interface StoreWatch {
  stop(): void;
}

/** `onClosed` gets the error of a store that answers no more calls. */
export function watchStore(store: Store, onClosed: (error: unknown) => void): StoreWatch {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const poll = async (): Promise<void> => {
    const error = await store.records.get('node', 'watch').then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (isStopped) return;
    if (codeOf(error) === 'store-closed') return onClosed(error);
    timer = setTimeout(() => void poll(), POLL_INTERVAL_MS);
    timer.unref();
  };
  void poll();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
