/**
 * The outcome journal: settlements that the store could not take, on disk until the store answers them.
 *
 * Each worker has one file, named `<path>.<pid>-<start time>-<worker>.ndjson`. The name is the lock: another worker may
 * adopt a file whose process has ended, by a rename that succeeds for one worker only. Lines are `{"settle":…}` and
 * `{"answered":token}`. The file is created with the first line and removed when every settlement in it is answered.
 *
 * The first line is `{"store":identity}`: tokens mean nothing to another store, where the same id and token may be a
 * different attempt. A file of another store is set aside as `<path>.set-aside-<identity>-….ndjson`; a worker of that
 * store adopts it. A file without this line is of an earlier version and is adopted.
 *
 * Invariant: `append` resolves after the bytes are on the disk. A line that a crash cut short is ignored.
 */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Settlement } from '../../core/ports/job-store.ts';
import { isSameProcess, startTimeOf } from './process-age.ts';

export interface Journal {
  /** Sets the identity of the store, before the first line is written and the first file is adopted. */
  belongTo(store: string): void;
  append(settlements: readonly Settlement[]): Promise<void>;
  answered(tokens: readonly number[]): Promise<void>;
  /** Adopts the files of processes that have ended. Returns their unanswered settlements, which are now in this journal. */
  adopt(): Promise<readonly Settlement[]>;
  /** Leaves a file with unanswered settlements for any worker to adopt. */
  close(): Promise<void>;
}

export interface JournalOptions {
  readonly path: string;
  readonly pid: number;
  readonly worker: string;
  /** A journal of another store was found and renamed. */
  onSetAside(path: string, settlements: number): void;
}

/** Further settlements are kept only in memory. */
export const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

/** Replaces the pid in the name of a closed journal, whose process may continue without it. */
const NO_PID = '0';

const SET_ASIDE = 'set-aside-';

type Line = { readonly store: string } | { readonly settle: Settlement } | { readonly answered: number };

interface Contents {
  readonly store: string | null;
  readonly settlements: readonly Settlement[];
}

export function openJournal(options: JournalOptions): Journal {
  return new FileJournal(options);
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #stem: string;
  readonly #unanswered = new Map<number, Settlement>();
  #store: string | null = null;
  #handle: FileHandle | null = null;
  #bytes = 0;
  #adoptions = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: JournalOptions) {
    this.#options = options;
    const worker = encodeURIComponent(options.worker);
    this.#stem = `${options.path}.${options.pid}-${startTimeOf(options.pid) ?? '0'}-${worker}`;
  }

  belongTo(store: string): void {
    this.#store = store;
  }

  append(settlements: readonly Settlement[]): Promise<void> {
    return this.#inTurn(() => this.#write(settlements));
  }

  answered(tokens: readonly number[]): Promise<void> {
    return this.#inTurn(async () => {
      const known = tokens.filter((token) => this.#unanswered.delete(token));
      if (this.#unanswered.size === 0) await this.#remove();
      else if (known.length > 0) await this.#writeLines(known.map((token) => ({ answered: token })));
    });
  }

  adopt(): Promise<readonly Settlement[]> {
    return this.#inTurn(async () => {
      const files = await this.#abandoned();
      return (await Promise.all(files.map((file) => this.#adopt(file)))).flat();
    });
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#handle === null) return;
      await this.#handle.close();
      this.#handle = null;
      const worker = encodeURIComponent(this.#options.worker);
      await rename(this.#file, `${this.#options.path}.${NO_PID}-0-${worker}.ndjson`);
    });
  }

  /** Runs writes one after another: an `answered` line must not overtake its `settle` line. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #write(settlements: readonly Settlement[]): Promise<void> {
    if (settlements.length === 0 || this.#bytes >= MAX_JOURNAL_BYTES) return;
    for (const settlement of settlements) this.#unanswered.set(settlement.token, settlement);
    await this.#writeLines(settlements.map((settle) => ({ settle })));
  }

  async #writeLines(lines: readonly Line[]): Promise<void> {
    const isNew = this.#handle === null;
    this.#handle ??= await create(this.#file);
    const header: readonly Line[] = isNew && this.#store !== null ? [{ store: this.#store }] : [];
    const text = [...header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('');
    await this.#handle.appendFile(text);
    await this.#handle.datasync();
    this.#bytes += Buffer.byteLength(text);
  }

  get #file(): string {
    return `${this.#stem}.ndjson`;
  }

  async #remove(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
    this.#bytes = 0;
    await rm(this.#file, { force: true });
  }

  /** Returns the files of this path whose process has ended, and those that were set aside for this store. */
  async #abandoned(): Promise<readonly string[]> {
    const folder = dirname(this.#options.path);
    const prefix = `${basename(this.#options.path)}.`;
    const names = await readdir(folder).catch(() => []);
    return names
      .filter((name) => name.startsWith(prefix) && this.#isAdoptable(name.slice(prefix.length)))
      .map((name) => join(folder, name));
  }

  #isAdoptable(rest: string): boolean {
    return isAbandoned(rest) || (this.#store !== null && rest.startsWith(setAsidePrefix(this.#store)));
  }

  /** Returns a unique file name, by the worker and the number of its adoption. */
  #asideName(store: string, number: number): string {
    const { path, worker } = this.#options;
    return `${path}.${setAsidePrefix(store)}${encodeURIComponent(worker)}-${number}.ndjson`;
  }

  /**
   * The rename decides which of several workers adopts the file. Other workers can adopt it under its new name in turn,
   * should this process end before the settlements are in its own file.
   */
  async #adopt(file: string): Promise<readonly Settlement[]> {
    this.#adoptions += 1;
    const number = this.#adoptions;
    const mine = `${this.#stem}-${number}.ndjson`;
    try {
      await rename(file, mine);
    } catch {
      return [];
    }
    const { store, settlements } = contentsOf(await readFile(mine, 'utf8'));
    if (store !== null && this.#store !== null && store !== this.#store) {
      const aside = this.#asideName(store, number);
      await rename(mine, aside);
      this.#options.onSetAside(aside, settlements.length);
      return [];
    }
    await this.#write(settlements);
    await rm(mine, { force: true });
    return settlements;
  }
}

/** Returns what follows the path in the names of files that were set aside for this store. */
function setAsidePrefix(store: string): string {
  return `${SET_ASIDE}${encodeURIComponent(store)}-`;
}

/** Creates the file, and syncs its directory so that the name is on the disk as well. */
async function create(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, 'a', 0o600);
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  return handle;
}

function isAbandoned(rest: string): boolean {
  const [, pid, startTime] = /^(\d+)-(\d+)-.*\.ndjson$/.exec(rest) ?? [];
  if (pid === undefined || startTime === undefined) return false;
  return pid === NO_PID || !isSameProcess(Number(pid), startTime);
}

function contentsOf(text: string): Contents {
  let store: string | null = null;
  const unanswered = new Map<number, Settlement>();
  for (const line of text.split('\n')) {
    const read = parse(line);
    if (read === null) continue;
    if ('settle' in read) unanswered.set(read.settle.token, read.settle);
    else if ('store' in read) store = read.store;
    else unanswered.delete(read.answered);
  }
  return { store, settlements: [...unanswered.values()] };
}

/** Returns null for an incomplete line: a crash cut it short, before `append` resolved. */
function parse(line: string): Line | null {
  try {
    return line === '' ? null : (JSON.parse(line) as Line);
  } catch {
    return null;
  }
}
