/**
 * Reserved disk space: a file that is deleted when the disk is full, so that running jobs can still be settled.
 * While it is missing, the store accepts no new jobs. It is written again as soon as there is space for it.
 *
 * It is large enough for a checkpoint of a full write-ahead log. After the checkpoint the log restarts in the space that
 * it already has, and every call except `add` has room again.
 */
import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isFull } from './sqlite-problem.ts';

const BALLAST_BYTES = 6 * 1024 * 1024;
/** Free space that must remain beside the ballast before it is written again, so that it is not deleted at once. */
const SPARE_BYTES = 2 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const RETRY_MS = 1_000;
/** How long an engine that has the file for itself relies on what it saw: only an operator could delete the ballast. */
const ALONE_MS = 1_000;

export class Ballast {
  readonly #path: string;
  readonly #shrink: () => void;
  #triedAt = 0;
  /** When it was last seen, on the monotonic clock. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #fault: unknown = null;

  /** `shrink` returns unused pages of the database to the file system: they may be the space that is missing. */
  constructor(database: string, shrink: () => void) {
    this.#path = join(dirname(database), 'ballast');
    this.#shrink = shrink;
  }

  /** The error of a disk that has space for the ballast and did not write it; null if the disk is full. */
  get fault(): unknown {
    return this.#fault;
  }

  /** Deletes the ballast to free its space. */
  release(): void {
    rmSync(this.#path, { force: true });
    [this.#triedAt, this.#fault, this.#seenAt] = [Date.now(), null, Number.NEGATIVE_INFINITY];
  }

  /**
   * Returns whether the ballast exists, or could be written just now. Other processes use the same file; an engine that is
   * alone need not look at it for each add.
   */
  ensure(isAlone = false): boolean {
    if (isAlone && performance.now() - this.#seenAt < ALONE_MS) return true;
    if (statSync(this.#path, { throwIfNoEntry: false })?.size === BALLAST_BYTES) return this.#seen();
    const now = Date.now();
    // Space takes time to become free; a call of the disk that failed may succeed at once.
    if (this.#fault === null && Math.abs(now - this.#triedAt) < RETRY_MS) return false;
    [this.#triedAt, this.#fault] = [now, null];
    return this.#restore();
  }

  #seen(): true {
    this.#seenAt = performance.now();
    return true;
  }

  #restore(): boolean {
    const draft = `${this.#path}.new`;
    try {
      if (!hasRoom(dirname(this.#path))) this.#shrink();
      if (!hasRoom(dirname(this.#path))) return false;
      write(draft);
      renameSync(draft, this.#path);
      return this.#seen();
    } catch (error) {
      if (!isFull(error)) this.#fault = error;
      discard(draft);
      return false;
    }
  }
}

/** A draft that a failing disk keeps is overwritten by the next one. */
function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    return;
  }
}

function hasRoom(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= BALLAST_BYTES + SPARE_BYTES;
}

/** Writes every byte, since a sparse file would reserve no space. A power cut may shorten it; then it is written again. */
function write(path: string): void {
  const file = openSync(path, 'w', 0o600);
  const piece = Buffer.alloc(PIECE_BYTES, 'ballast ');
  try {
    for (let left = BALLAST_BYTES; left > 0; left -= PIECE_BYTES) writeSync(file, piece);
  } finally {
    closeSync(file);
  }
}
