/**
 * The file `wake` beside the database: touched after a commit, watched by the other engines. They do not watch the database
 * itself, because its change is visible before the commit.
 */
import { closeSync, constants, type FSWatcher, openSync, watch, write } from 'node:fs';
import { dirname, join } from 'node:path';

export class WakeFile {
  readonly #file: number;
  readonly #watcher: FSWatcher | undefined;
  #writes = 0;
  #isClosed = false;

  constructor(database: string, woken: () => void) {
    const path = join(dirname(database), 'wake');
    this.#file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    this.#watcher = watchFile(path, woken);
  }

  /**
   * In the thread pool: the kernel may let the engine that it wakes run in place of the thread that touched the file, which
   * still has an fsync to do.
   */
  touch(): void {
    if (this.#isClosed) return;
    this.#writes += 1;
    // If the disk is too full for one byte, the other engines poll.
    write(this.#file, '.', 0, () => {
      this.#writes -= 1;
      this.#closeWhenWritten();
    });
  }

  close(): void {
    this.#watcher?.close();
    this.#isClosed = true;
    this.#closeWhenWritten();
  }

  /** A file that is closed before its write could be another file by then. */
  #closeWhenWritten(): void {
    if (this.#isClosed && this.#writes === 0) closeSync(this.#file);
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
