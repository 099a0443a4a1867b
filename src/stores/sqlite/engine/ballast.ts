/**
 * Room kept for bad times: a file that is given up when the disk is full, so that what is running can still end.
 * While it is gone no new jobs are taken; it is written again as soon as there is space for it.
 *
 * It is large enough for all pages of a full log to go into the database: then the log begins anew in the space
 * that it has, and everything but new jobs has room again.
 */
import { closeSync, openSync, renameSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

const BALLAST_BYTES = 6 * 1024 * 1024;
/** Not taken back before this much would be left beside it, so that it does not come and go. */
const SPARE_BYTES = 2 * 1024 * 1024;
const PIECE_BYTES = 64 * 1024;
const RETRY_MS = 1_000;

export class Ballast {
  readonly #path: string;
  readonly #shrink: () => void;
  #triedAt = 0;

  /** `shrink` gives back what the database holds and does not need: after bad times that may be the room that is missing. */
  constructor(database: string, shrink: () => void) {
    this.#path = join(dirname(database), 'ballast');
    this.#shrink = shrink;
  }

  giveUp(): void {
    rmSync(this.#path, { force: true });
    this.#triedAt = Date.now();
  }

  /** Whether it is there, or could be put back just now. Other processes look at the same file. */
  isThere(): boolean {
    if (statSync(this.#path, { throwIfNoEntry: false })?.size === BALLAST_BYTES) return true;
    const now = Date.now();
    if (Math.abs(now - this.#triedAt) < RETRY_MS) return false;
    this.#triedAt = now;
    return this.#putBack();
  }

  #putBack(): boolean {
    const draft = `${this.#path}.new`;
    try {
      if (!hasRoom(dirname(this.#path))) this.#shrink();
      if (!hasRoom(dirname(this.#path))) return false;
      write(draft);
      renameSync(draft, this.#path);
      return true;
    } catch {
      rmSync(draft, { force: true });
      return false;
    }
  }
}

function hasRoom(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= BALLAST_BYTES + SPARE_BYTES;
}

/** In full, since a file of holes would hold no room. A power cut may shorten it; then it is written again. */
function write(path: string): void {
  const file = openSync(path, 'w', 0o600);
  const piece = Buffer.alloc(PIECE_BYTES, 'ballast ');
  try {
    for (let left = BALLAST_BYTES; left > 0; left -= PIECE_BYTES) writeSync(file, piece);
  } finally {
    closeSync(file);
  }
}
