/**
 * Which attempts this node has under way: a small file each in `running/`, made before the start and removed when the
 * store has answered the settlement. What is found there at a start is what must be adopted or ended.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../core/job.ts';

export interface RunningMark {
  readonly id: string;
  readonly queue: string;
  readonly attempt: number;
  readonly token: number;
  /** The length its lease was claimed with: a planned absence makes it longer for a while. */
  readonly leaseMs: number;
}

export class RunningMarks {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async put({ id, queue, attempt, lease }: RunningJob): Promise<void> {
    const mark: RunningMark = { id, queue, attempt, token: lease.token, leaseMs: lease.ms };
    const path = this.#path(mark);
    await writeFile(`${path}.new`, JSON.stringify(mark), { mode: 0o600 });
    await rename(`${path}.new`, path);
  }

  /** Whether this very attempt was begun by a node of this home. */
  async has({ id, attempt, lease }: RunningJob): Promise<boolean> {
    const text = await readFile(this.#path({ id, attempt }), 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return text !== null && (JSON.parse(text) as RunningMark).token === lease.token;
  }

  async remove(mark: Pick<RunningMark, 'id' | 'attempt'>): Promise<void> {
    await rm(this.#path(mark), { force: true });
  }

  /** Also makes the folder: a node looks here before it begins anything. */
  async list(): Promise<readonly RunningMark[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const names = (await readdir(this.#folder)).filter((name) => !name.endsWith('.new'));
    return Promise.all(
      names.map(async (name) => JSON.parse(await readFile(join(this.#folder, name), 'utf8')) as RunningMark),
    );
  }

  #path({ id, attempt }: Pick<RunningMark, 'id' | 'attempt'>): string {
    return join(this.#folder, `${attempt}@${id}`);
  }
}
