/**
 * Which attempts this node has under way: their records once more, in `running/`, put there before the start and
 * removed when the store has answered the settlement. What is found there at a start must be adopted or ended.
 *
 * Invariant: a mark is whole, or its attempt was never started: the order is given after it.
 */
import { copyFileSync, linkSync, unlinkSync } from 'node:fs';
import { mkdir, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../../core/job/job.ts';
import type { AttemptMark, AttemptRecord } from '../attempts/attempt-record.ts';
import { parseAttemptRecord, recordPath } from '../attempts/attempt-record.ts';
import type { Home } from '../home.ts';

type Which = Pick<AttemptMark, 'id' | 'attempt'>;

export class AttemptRegistry {
  readonly #folder: string;
  /** Tokens of those that an earlier node left, by name. */
  readonly #found = new Map<string, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** A link to the record that is in the attempt's folder: a file more would cost more than all else here. */
  put(which: Which, folder: string): void {
    const path = join(this.#folder, nameOf(which));
    try {
      linkSync(recordPath(folder), path);
    } catch {
      copyFileSync(recordPath(folder), path);
    }
  }

  /** Whether this very attempt was begun by an earlier node of this home. */
  has({ id, attempt, lease }: RunningJob): boolean {
    return this.#found.get(nameOf({ id, attempt })) === lease.token;
  }

  remove(which: Which): void {
    const name = nameOf(which);
    this.#found.delete(name);
    removeIfThere(join(this.#folder, name));
  }

  /** Also makes the folder: a node looks here before it begins anything. */
  async list(): Promise<readonly AttemptMark[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const marks = await Promise.all((await readdir(this.#folder)).map((name) => this.#read(name)));
    return marks.filter((mark) => mark !== null);
  }

  async #read(name: string): Promise<AttemptRecord | null> {
    const path = join(this.#folder, name);
    const mark = parseAttemptRecord(await readFile(path, 'utf8'));
    if (mark === null) await unlink(path);
    else this.#found.set(name, mark.token);
    return mark;
  }
}

export const runningFolder = ({ root }: Pick<Home, 'root'>): string => join(root, 'running');

/** By the names alone, of a node that is at work meanwhile: nothing is read, and nothing changed. */
export async function markedIn(home: Pick<Home, 'root'>): Promise<readonly Which[]> {
  const names = await readdir(runningFolder(home)).catch(() => []);
  return names.flatMap((name) => {
    const [, attempt, id] = /^(\d+)@(.+)$/.exec(name) ?? [];
    return attempt === undefined || id === undefined ? [] : [{ id, attempt: Number(attempt) }];
  });
}

/** By the one call it takes: `rm` looks twice before. */
function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

const nameOf = ({ id, attempt }: Which): string => `${attempt}@${id}`;
