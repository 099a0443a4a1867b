/**
 * Work folders that an attempt left as it found them, for the attempts to come. A disk that many files were removed
 * from a moment ago takes longer to make and remove these few than a short script runs.
 *
 * Invariant: one is handed on only if nothing tells it from a new one: no file but the data, which is written anew,
 * nothing in `out/`, and owner, modes and links as this node makes them. Everything else is removed as ever.
 */
import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { DATA, OUT } from './work-folder.ts';

const MOST_SPARE = 64;
const FOLDER_MODE = 0o40700;
const FILE_MODE = 0o100600;

export class SpareFolders {
  readonly #folder: string;
  readonly #spare: string[] = [];
  #kept = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** What an earlier node kept is of no use: nobody looked at it since. */
  open(): void {
    this.close();
    mkdirSync(this.#folder, { mode: 0o700 });
  }

  close(): void {
    this.#spare.length = 0;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Puts one in that place. False when there is none. */
  take(work: string): boolean {
    const path = this.#spare.pop();
    return path !== undefined && tryTo(() => renameSync(path, work));
  }

  /** Keeps it, if it is as good as new. */
  keep(work: string): boolean {
    if (this.#spare.length >= MOST_SPARE || !isAsNew(work)) return false;
    this.#kept += 1;
    const path = join(this.#folder, String(this.#kept));
    if (!tryTo(() => renameSync(work, path))) return false;
    this.#spare.push(path);
    return true;
  }
}

function isAsNew(work: string): boolean {
  try {
    const out = join(work, OUT);
    const names = readdirSync(work);
    if (names.length !== 2 || !names.includes(DATA) || !names.includes(OUT) || readdirSync(out).length > 0)
      return false;
    const data = lstatSync(join(work, DATA));
    return (
      data.nlink === 1 && isOurs(data, FILE_MODE) && [work, out].every((path) => isOurs(lstatSync(path), FOLDER_MODE))
    );
  } catch {
    return false;
  }
}

const isOurs = ({ uid, gid, mode }: Stats, wanted: number): boolean =>
  mode === wanted && uid === process.getuid?.() && gid === process.getgid?.();

/** Another file system, no right, or gone: then it is done without. */
function tryTo(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
