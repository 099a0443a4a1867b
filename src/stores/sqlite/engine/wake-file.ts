/**
 * The file `wake` beside the database: touched after a commit, watched by the other engines. Watching the
 * database itself would not do: its change is seen before the row is.
 */
import { closeSync, constants, type FSWatcher, openSync, watch, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

export class WakeFile {
  readonly #file: number;
  readonly #watcher: FSWatcher | undefined;

  constructor(database: string, woken: () => void) {
    const path = join(dirname(database), 'wake');
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#watcher = watchFile(path, woken);
  }

  touch(): void {
    try {
      writeSync(this.#file, '.', 0);
    } catch {
      // A disk too full for one byte: the others look by themselves before long.
    }
  }

  close(): void {
    this.#watcher?.close();
    closeSync(this.#file);
  }
}

/** A machine that can watch no more files leaves the slow poll. */
function watchFile(path: string, woken: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, woken);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
