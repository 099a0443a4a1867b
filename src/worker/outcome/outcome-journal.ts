/**
 * The journal: settlements that the store could not take, on disk until it has answered them.
 *
 * One file a worker, named `<path>.<pid>-<start time>-<worker>.ndjson`, so the name is the lock: a file whose process
 * is gone may be taken over, and the rename that does so succeeds for one taker only. Lines are `{"settle":…}` and
 * `{"answered":token}`. The file is made with the first line and removed when nothing in it is owed any more.
 *
 * The first line is `{"store":identity}`: tokens mean nothing to another store, where the same id and token may be a
 * different attempt. A file of another store is set aside as `<path>.set-aside-<identity>-….ndjson`; a worker of that
 * store adopts it. A file without this line is of an earlier version and is adopted.
 *
 * Invariant: `append` resolves after the bytes are on the disk. A line that was cut by a crash is left out.
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
  /** Takes over what processes that are gone have left. Answers what they owed, which is this journal's now. */
  adopt(): Promise<readonly Settlement[]>;
  /** Leaves the file where something is still owed, for anybody to take over. */
  close(): Promise<void>;
}

export interface JournalOptions {
  readonly path: string;
  readonly pid: number;
  readonly worker: string;
  /** A journal of another store was found and renamed. */
  onSetAside(path: string, settlements: number): void;
}

/** More is not written down but kept in memory alone. */
export const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;

/** In place of the pid of a journal that was left in good order: its process may well go on without it. */
const NOBODY = '0';

const SET_ASIDE = 'set-aside-';

type Line = { readonly store: string } | { readonly settle: Settlement } | { readonly answered: number };

interface Contents {
  readonly store: string | null;
  readonly owed: readonly Settlement[];
}

export function openJournal(options: JournalOptions): Journal {
  return new FileJournal(options);
}

class FileJournal implements Journal {
  readonly #options: JournalOptions;
  readonly #stem: string;
  readonly #owed = new Map<number, Settlement>();
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
      const known = tokens.filter((token) => this.#owed.delete(token));
      if (this.#owed.size === 0) await this.#remove();
      else if (known.length > 0) await this.#writeLines(known.map((token) => ({ answered: token })));
    });
  }

  adopt(): Promise<readonly Settlement[]> {
    return this.#inTurn(async () => {
      const files = await this.#abandoned();
      return (await Promise.all(files.map((file) => this.#take(file)))).flat();
    });
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#handle === null) return;
      await this.#handle.close();
      this.#handle = null;
      const worker = encodeURIComponent(this.#options.worker);
      await rename(this.#file, `${this.#options.path}.${NOBODY}-0-${worker}.ndjson`);
    });
  }

  /** One after the other: a line that takes something back must not overtake the line that says it. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #write(settlements: readonly Settlement[]): Promise<void> {
    if (settlements.length === 0 || this.#bytes >= MAX_JOURNAL_BYTES) return;
    for (const settlement of settlements) this.#owed.set(settlement.token, settlement);
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

  /** Files of this path whose process is gone, and those that were set aside for this store. */
  async #abandoned(): Promise<readonly string[]> {
    const folder = dirname(this.#options.path);
    const prefix = `${basename(this.#options.path)}.`;
    const names = await readdir(folder).catch(() => []);
    return names
      .filter((name) => name.startsWith(prefix) && this.#isFree(name.slice(prefix.length)))
      .map((name) => join(folder, name));
  }

  #isFree(rest: string): boolean {
    return isAbandoned(rest) || (this.#store !== null && rest.startsWith(setAsidePrefix(this.#store)));
  }

  /** The worker and its adoptions make it a name that no other file has. */
  #asideName(store: string, number: number): string {
    const { path, worker } = this.#options;
    return `${path}.${setAsidePrefix(store)}${encodeURIComponent(worker)}-${number}.ndjson`;
  }

  /**
   * The rename decides who of several takers has it. Its new name is one that others may take over in turn, should
   * this process end before what it owes is written into its own file.
   */
  async #take(file: string): Promise<readonly Settlement[]> {
    this.#adoptions += 1;
    const number = this.#adoptions;
    const mine = `${this.#stem}-${number}.ndjson`;
    try {
      await rename(file, mine);
    } catch {
      return [];
    }
    const { store, owed } = contentsOf(await readFile(mine, 'utf8'));
    if (store !== null && this.#store !== null && store !== this.#store) {
      const aside = this.#asideName(store, number);
      await rename(mine, aside);
      this.#options.onSetAside(aside, owed.length);
      return [];
    }
    await this.#write(owed);
    await rm(mine, { force: true });
    return owed;
  }
}

/** What follows the path in the names of files that were set aside for this store. */
function setAsidePrefix(store: string): string {
  return `${SET_ASIDE}${encodeURIComponent(store)}-`;
}

/** Made so that its name is on the disk as well. */
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
  return pid === NOBODY || !isSameProcess(Number(pid), startTime);
}

function contentsOf(text: string): Contents {
  let store: string | null = null;
  const owed = new Map<number, Settlement>();
  for (const line of text.split('\n')) {
    const read = parse(line);
    if (read === null) continue;
    if ('settle' in read) owed.set(read.settle.token, read.settle);
    else if ('store' in read) store = read.store;
    else owed.delete(read.answered);
  }
  return { store, owed: [...owed.values()] };
}

/** Null for a line that is not whole: the crash came while it was written, before anybody relied on it. */
function parse(line: string): Line | null {
  try {
    return line === '' ? null : (JSON.parse(line) as Line);
  } catch {
    return null;
  }
}
