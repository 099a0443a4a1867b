/**
 * Copies of logs that are in the store, as folders of attempts: every way to read a log then works as for files.
 *
 * A copy follows its log: text is appended, and after a cut of the log (core/job/stored-log.ts) the copy is cut too, and
 * its index has the new generation. Copies can be deleted at any time.
 */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogPage } from '../../core/ports/log-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import { EMPTY_INDEX, replaceIndex } from '../../runner/log/log-index.ts';

/** The copies used least recently are deleted beyond this number. */
const MAX_COPIES = 200;

interface Copy {
  readonly folder: string;
  /** How much of the log it has, and of which generation. */
  size: number;
  generation: number;
  gaps: number;
  last: Promise<unknown>;
}

export class StoredLogCopies {
  readonly #store: Store;
  readonly #folder: () => Promise<string>;
  readonly #copies = new Map<string, Copy>();
  #opening: Promise<string> | null = null;

  /** `folder` is called before the first copy, and returns an empty folder. */
  constructor(store: Store, folder: () => Promise<string>) {
    this.#store = store;
    this.#folder = folder;
  }

  /** Returns the folder of an up-to-date copy, or null if the store has no log of the attempt. */
  async refresh(id: string, attempt: number): Promise<string | null> {
    const key = join(id, String(attempt));
    if (!this.#copies.has(key) && (await this.#read(id, attempt, 0)) === null) return null;
    this.#opening ??= this.#folder();
    const copy = this.#copy(key, await this.#opening);
    const turn = copy.last.then(() => this.#update(copy, { id, attempt }));
    copy.last = turn.catch(() => undefined);
    await turn;
    return copy.folder;
  }

  #read(id: string, attempt: number, from: number): Promise<LogPage | null> {
    return this.#store.logs.read({ id, attempt, from });
  }

  #copy(key: string, folder: string): Copy {
    const known = this.#copies.get(key);
    const copy = known ?? {
      folder: join(folder, key),
      size: 0,
      generation: 0,
      gaps: 0,
      last: rm(join(folder, key), { recursive: true, force: true }),
    };
    this.#copies.delete(key);
    this.#copies.set(key, copy);
    for (const [oldest, { folder: old, last }] of this.#copies) {
      if (this.#copies.size <= MAX_COPIES) break;
      this.#copies.delete(oldest);
      void last.then(() => rm(old, { recursive: true, force: true })).catch(() => undefined);
    }
    return copy;
  }

  async #update(copy: Copy, { id, attempt }: { id: string; attempt: number }): Promise<void> {
    await mkdir(copy.folder, { recursive: true, mode: 0o700 });
    const file = await open(filesOf(copy.folder).log, 'a+', 0o600);
    try {
      for (;;) {
        const page = await this.#read(id, attempt, copy.size);
        if (page === null) return;
        if (isComplete(copy, page)) return;
        await follow(copy, file, page);
      }
    } finally {
      await file.close();
    }
  }
}

function isComplete({ size, generation, gaps }: Copy, page: LogPage): boolean {
  return page.size === size && page.generation === generation && page.gaps.length === gaps;
}

async function follow(copy: Copy, file: FileHandle, page: LogPage): Promise<void> {
  const { generation, head, dropped, gaps } = page;
  if (generation !== copy.generation || gaps.length !== copy.gaps) {
    const isCut = generation !== copy.generation;
    if (isCut) copy.size = Math.min(copy.size, head);
    await file.truncate(copy.size);
    replaceIndex(filesOf(copy.folder).logIndex, { ...EMPTY_INDEX, generation, head, dropped, gaps });
    copy.generation = generation;
    copy.gaps = gaps.length;
    // What was read belongs to another place of the log: it is read again.
    if (isCut) return;
  }
  if (page.from !== copy.size) {
    // The log is shorter: the store deleted it, and a new one began.
    copy.size = 0;
    return file.truncate(0);
  }
  await file.appendFile(page.text);
  copy.size = page.to;
}
