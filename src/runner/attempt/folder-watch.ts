/**
 * Calls back when a directory changes, at a limited rate: a script that writes a line every microsecond causes one call
 * in a while, not a million.
 *
 * After an event the watch is removed until the next call is allowed. Then the watch is set first and the callback runs
 * after it, so no change falls between the two. It is no error when the system has no room for another watch: callers
 * also poll slowly.
 */
import { type FSWatcher, watch } from 'node:fs';

/** The shortest time between two calls. */
export const MIN_INTERVAL_MS = 50;

export class FolderWatch {
  readonly #folder: string;
  readonly #onChange: () => void;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #lastAt = 0;
  #isClosed = false;

  constructor(folder: string, onChange: () => void) {
    this.#folder = folder;
    this.#onChange = onChange;
  }

  /** Whether changes go unseen because the system had no room for the watch. Another `start` tries again. */
  get isBlind(): boolean {
    return this.#watcher === null && this.#timer === null;
  }

  /** Calls back after `afterMs`, and from then on when something changes. */
  start(afterMs: number): void {
    this.#timer = setTimeout(() => this.#fire(), afterMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#stopWatching();
  }

  #fire(): void {
    this.#timer = null;
    this.#lastAt = performance.now();
    this.#startWatching();
    this.#onChange();
  }

  #startWatching(): void {
    if (this.#isClosed) return;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#changed());
      this.#watcher.on('error', () => this.#stopWatching());
    } catch {
      this.#watcher = null;
    }
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #changed(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#stopWatching();
    const waitMs = Math.max(0, this.#lastAt + MIN_INTERVAL_MS - performance.now());
    this.#timer = setTimeout(() => this.#fire(), waitMs).unref();
  }
}
