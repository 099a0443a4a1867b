/** One runner of schedules for all that works under a connection: begun with the first, ended with the last. */
import type { Store } from '../core/ports/store.ts';
import type { ScheduleRunner } from '../schedules/schedule-runner.ts';
import { startScheduleRunner } from '../schedules/schedule-runner.ts';

type OnTrouble = (what: string, error: unknown) => void;

export class SharedScheduleRunner {
  readonly #store: Store;
  readonly #listeners = new Set<OnTrouble>();
  #runner: ScheduleRunner | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Answers how to leave again. */
  join(onTrouble: OnTrouble): () => Promise<void> {
    this.#listeners.add(onTrouble);
    this.#runner ??= startScheduleRunner({
      store: this.#store,
      onTrouble: (what, error) => {
        for (const listener of this.#listeners) listener(what, error);
      },
    });
    return async () => {
      this.#listeners.delete(onTrouble);
      if (this.#listeners.size > 0) return;
      const runner = this.#runner;
      this.#runner = null;
      await runner?.stop();
    };
  }

  wake(): void {
    this.#runner?.wake();
  }
}
