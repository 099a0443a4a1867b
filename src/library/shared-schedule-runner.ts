/** The schedule runner of a connection: it starts with the first worker and stops with the last. */
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

  /** Adds a worker. Returns a function that removes it. */
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
