/** One keeper of schedules for all that works under a connection: begun with the first, ended with the last. */
import type { Store } from '../core/store.ts';
import type { ScheduleKeeper } from '../node/schedule-keeper.ts';
import { startScheduleKeeper } from '../node/schedule-keeper.ts';

type OnTrouble = (what: string, error: unknown) => void;

export class SharedKeeper {
  readonly #store: Store;
  readonly #listeners = new Set<OnTrouble>();
  #keeper: ScheduleKeeper | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Answers how to leave again. */
  join(onTrouble: OnTrouble): () => Promise<void> {
    this.#listeners.add(onTrouble);
    this.#keeper ??= startScheduleKeeper({
      store: this.#store,
      onTrouble: (what, error) => {
        for (const listener of this.#listeners) listener(what, error);
      },
    });
    return async () => {
      this.#listeners.delete(onTrouble);
      if (this.#listeners.size > 0) return;
      const keeper = this.#keeper;
      this.#keeper = null;
      await keeper?.stop();
    };
  }

  wake(): void {
    this.#keeper?.wake();
  }
}
