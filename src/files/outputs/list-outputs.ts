/**
 * Lists the files in the output directory of a script. It opens nothing and follows no links. Anything that is not a
 * regular file of the script is reported instead.
 *
 * Invariant: the walk ends, however many entries there are and however deep they are.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists } from '../blobs/file-errors.ts';
import { fileProblem } from '../blobs/foreign-file.ts';
import { findLookalikes, nameProblem } from './attachment-name.ts';

const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 32;

export interface OutputLimits {
  /** The required owner of the files. */
  readonly owner: number;
  readonly maxFiles: number;
  /** The limit of all files together. */
  readonly maxBytes: number;
}

export interface RefusedOutput {
  /** Relative to the output directory, with slashes. */
  readonly path: string;
  readonly reason: string;
}

export interface FoundOutput {
  readonly path: string;
  readonly size: number;
}

export interface FoundOutputs {
  readonly files: readonly FoundOutput[];
  readonly refused: readonly RefusedOutput[];
}

/** Lists files in the order of their paths. A missing directory has no outputs. */
export async function listOutputs(folder: string, limits: OutputLimits): Promise<FoundOutputs> {
  const walk = new OutputWalk(folder, limits);
  await walk.run();
  const files = walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const lookalikes = new Set(findLookalikes(files.map(({ path }) => path)));
  const refused = [...lookalikes].map((index) => ({
    path: files[index]?.path ?? '',
    reason: 'looks like another name',
  }));
  return withinLimits(
    files.filter((_, index) => !lookalikes.has(index)),
    [...walk.refused, ...refused],
    limits,
  );
}

function withinLimits(
  found: readonly FoundOutput[],
  refused: RefusedOutput[],
  { maxFiles, maxBytes }: OutputLimits,
): FoundOutputs {
  const files: FoundOutput[] = [];
  let bytes = 0;
  for (const file of found) {
    const reason =
      files.length >= maxFiles
        ? `there are more than ${maxFiles} files`
        : bytes + file.size > maxBytes
          ? `all files together have more than ${maxBytes} bytes`
          : null;
    if (reason !== null) refused.push({ path: file.path, reason });
    else files.push(file);
    if (reason === null) bytes += file.size;
  }
  return { files, refused };
}

class OutputWalk {
  readonly files: FoundOutput[] = [];
  readonly refused: RefusedOutput[] = [];
  readonly #folder: string;
  readonly #limits: OutputLimits;
  readonly #directories: string[] = [''];
  #entries = 0;

  constructor(folder: string, limits: OutputLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  async run(): Promise<void> {
    const root = await ifExists(lstat(this.#folder, { bigint: true }));
    if (root === null) return;
    if (!root.isDirectory()) return this.#refuse('', 'is not a directory');
    for (let path = this.#directories.pop(); path !== undefined; path = this.#directories.pop())
      await this.#enter(path);
  }

  async #enter(path: string): Promise<void> {
    for await (const { name } of await opendir(join(this.#folder, path))) {
      this.#entries += 1;
      if (this.#entries > MAX_ENTRIES) {
        this.#directories.length = 0;
        return this.#refuse(path, `there are more than ${MAX_ENTRIES} entries; the rest was skipped`);
      }
      await this.#visit(path === '' ? name : `${path}/${name}`, name);
    }
  }

  async #visit(path: string, name: string): Promise<void> {
    const badName = nameProblem(name);
    if (badName !== null) return this.#refuse(path, `its name ${badName}`);
    const stats = await ifExists(lstat(join(this.#folder, path), { bigint: true }));
    if (stats === null) return this.#refuse(path, 'disappeared');
    if (stats.isDirectory()) {
      if (path.split('/').length >= MAX_DEPTH) return this.#refuse(path, `is more than ${MAX_DEPTH} directories deep`);
      this.#directories.push(path);
      return;
    }
    const problem = fileProblem(stats, { owner: this.#limits.owner, isSole: true });
    if (problem !== null) return this.#refuse(path, problem);
    this.files.push({ path, size: Number(stats.size) });
  }

  #refuse(path: string, reason: string): void {
    this.refused.push({ path, reason });
  }
}
