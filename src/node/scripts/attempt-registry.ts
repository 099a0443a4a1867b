/**
 * The running attempts of a node on disk: a link to each attempt's record in `running/`, created before the start and
 * removed after the store has answered the settlement. A node adopts or ends every attempt that it finds there at its
 * start.
 *
 * Invariant: an entry is complete, or its attempt never started: the runner gets its request after the entry exists.
 */
import { copyFileSync, linkSync, unlinkSync } from 'node:fs';
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { AttemptEntry, AttemptRecord } from '../attempts/attempt-record.ts';
import { parseAttemptRecord, recordPath } from '../attempts/attempt-record.ts';
import type { Home } from '../home.ts';

type Which = Pick<AttemptEntry, 'id' | 'attempt'>;

export class AttemptRegistry {
  readonly #folder: string;
  /** Tokens of the attempts that an earlier node left, by entry name. */
  readonly #found = new Map<string, number>();
  /** Tokens of the attempts that this node started, by entry name. */
  readonly #started = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A link to the attempt's record: writing another file would cost more than everything else here. */
  put(job: RunningJob, folder: string): void {
    const path = join(this.#folder, nameOf(job));
    this.#started.set(nameOf(job), job.lease.token);
    try {
      linkSync(recordPath(folder), path);
    } catch {
      copyFileSync(recordPath(folder), path);
    }
  }

  /** Returns whether an earlier node of this data directory started this very attempt. */
  has({ id, attempt, lease }: RunningJob): boolean {
    return this.#found.get(nameOf({ id, attempt })) === lease.token;
  }

  /** Race with a resumed attempt, which has the same name: the end of its earlier part leaves its entry. */
  remove(which: Which & { readonly token: number }): void {
    const name = nameOf(which);
    if ((this.#started.get(name) ?? which.token) !== which.token) return;
    this.#started.delete(name);
    this.#found.delete(name);
    removeIfThere(join(this.#folder, name));
  }

  /** Lists the entries, and creates the directory: a node calls this before it starts anything. */
  async list(): Promise<readonly AttemptEntry[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const entries = await Promise.all((await readdir(this.#folder)).map((name) => this.#read(name)));
    return entries.filter((entry) => entry !== null);
  }

  async #read(name: string): Promise<AttemptRecord | null> {
    const path = join(this.#folder, name);
    const entry = parseAttemptRecord(await readFile(path, 'utf8'));
    if (entry === null) await unlink(path);
    else this.#found.set(name, entry.token);
    return entry;
  }
}

export const runningFolder = ({ root }: Pick<Home, 'root'>): string => join(root, 'running');

/**
 * Lists the running attempts by file names, also while another process is the node. Reads no file and changes nothing.
 */
export async function registeredAttempts(home: Pick<Home, 'root'>): Promise<readonly Which[]> {
  const names = await readdir(runningFolder(home)).catch(() => []);
  return names.flatMap((name) => {
    const [, attempt, id] = /^(\d+)@(.+)$/.exec(name) ?? [];
    return attempt === undefined || id === undefined ? [] : [{ id, attempt: Number(attempt) }];
  });
}

/** One system call: `rm` makes two more checks. */
function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const nameOf = ({ id, attempt }: Which): string => `${attempt}@${id}`;
