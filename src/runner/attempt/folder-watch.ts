/**
 * Tells that something changed in a folder, at most so often: a script that writes a line every microsecond is one event
 * in a while, not a million.
 *
 * After an event nobody watches until it is time for the next look; then the watch is set first and the look is made
 * after it, so that nothing falls between the two. A system without room for another watch is not an error: whoever uses
 * this has a slow look at everything as the net under it.
 */
import { type FSWatcher, watch } from 'node:fs';

/** The shortest time between two looks. */
export const LOOK_EVERY_MS = 50;

export class FolderWatch {
  readonly #folder: string;
  readonly #look: () => void;
  #watcher: FSWatcher | null = null;
  #timer: NodeJS.Timeout | null = null;
  #lastAt = 0;
  #isClosed = false;

  constructor(folder: string, look: () => void) {
    this.#folder = folder;
    this.#look = look;
  }

  /** Whether nothing would be told: the system had no room for the watch. Another start tries again. */
  get isBlind(): boolean {
    return this.#watcher === null && this.#timer === null;
  }

  /** Looks then, and from then on when something changes. */
  start(afterMs: number): void {
    this.#timer = setTimeout(() => this.#go(), afterMs).unref();
  }

  close(): void {
    this.#isClosed = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#unset();
  }

  #go(): void {
    this.#timer = null;
    this.#lastAt = performance.now();
    this.#set();
    this.#look();
  }

  #set(): void {
    if (this.#isClosed) return;
    try {
      this.#watcher = watch(this.#folder, { persistent: false }, () => this.#changed());
      this.#watcher.on('error', () => this.#unset());
    } catch {
      this.#watcher = null;
    }
  }

  #unset(): void {
    this.#watcher?.close();
    this.#watcher = null;
  }

  #changed(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#unset();
    const waitMs = Math.max(0, this.#lastAt + LOOK_EVERY_MS - performance.now());
    this.#timer = setTimeout(() => this.#go(), waitMs).unref();
  }
}
