/**
 * The file `wake` beside the database: touched after a commit, watched by the other engines. They do not watch the database
 * itself, because its change is visible before the commit.
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
      // The disk is too full for one byte: the other engines poll.
    }
  }

  close(): void {
    this.#watcher?.close();
    closeSync(this.#file);
  }
}

/** Returns undefined if the system can watch no more files: then the slow poll remains. */
function watchFile(path: string, woken: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, woken);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
