/**
 * Asks the store at intervals whether it can still be used, and reports once when it cannot. Workers and routes report
 * such errors only when they make a call, and only the first of a series; a node must not miss the last one.
 */
import type { Store } from '../../core/ports/store.ts';
import { codeOf } from '../../worker/loop/store-availability.ts';

const ASK_EVERY_MS = 1_000;

export interface StoreWatch {
  stop(): void;
}

/** `onClosed` gets the error of a store that will answer no call any more. */
export function watchStore(store: Store, onClosed: (error: unknown) => void): StoreWatch {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const ask = async (): Promise<void> => {
    const error = await store.records.get('node', 'watch').then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (isStopped) return;
    if (codeOf(error) === 'store-closed') return onClosed(error);
    timer = setTimeout(() => void ask(), ASK_EVERY_MS);
    timer.unref();
  };
  void ask();
  return {
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
