/**
 * Finds the files that a script has left in its output folder. Looks at everything, opens nothing: links are not
 * followed, and whatever is no plain file of the script's own is reported instead of taken.
 *
 * Invariant: the walk ends, however many entries there are and however deep they lie.
 */
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../blobs/file-errors.ts';
import { oddity } from '../blobs/foreign-file.ts';
import { findTwins, nameProblem } from './attachment-name.ts';

const MAX_ENTRIES = 100_000;
const MAX_DEPTH = 32;

export interface OutputLimits {
  /** The user who must own the files. */
  readonly owner: number;
  readonly maxFiles: number;
  /** Of all files together. */
  readonly maxBytes: number;
}

export interface RefusedOutput {
  /** Relative to the output folder, with slashes. */
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

/** In the order of their paths. A folder that is not there has no outputs. */
export async function listOutputs(folder: string, limits: OutputLimits): Promise<FoundOutputs> {
  const walk = new OutputWalk(folder, limits);
  await walk.run();
  const files = walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const twins = new Set(findTwins(files.map(({ path }) => path)));
  const refused = [...twins].map((place) => ({ path: files[place]?.path ?? '', reason: 'looks like another name' }));
  return withinLimits(
    files.filter((_, place) => !twins.has(place)),
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
  readonly #folders: string[] = [''];
  #entries = 0;

  constructor(folder: string, limits: OutputLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  async run(): Promise<void> {
    const root = await ifThere(lstat(this.#folder, { bigint: true }));
    if (root === null) return;
    if (!root.isDirectory()) return this.#refuse('', 'is not a folder');
    for (let path = this.#folders.pop(); path !== undefined; path = this.#folders.pop()) await this.#enter(path);
  }

  async #enter(path: string): Promise<void> {
    for await (const { name } of await opendir(join(this.#folder, path))) {
      this.#entries += 1;
      if (this.#entries > MAX_ENTRIES) {
        this.#folders.length = 0;
        return this.#refuse(path, `there are more than ${MAX_ENTRIES} entries; the rest was not looked at`);
      }
      await this.#look(path === '' ? name : `${path}/${name}`, name);
    }
  }

  async #look(path: string, name: string): Promise<void> {
    const badName = nameProblem(name);
    if (badName !== null) return this.#refuse(path, `its name ${badName}`);
    const stats = await ifThere(lstat(join(this.#folder, path), { bigint: true }));
    if (stats === null) return this.#refuse(path, 'went away');
    if (stats.isDirectory()) {
      if (path.split('/').length >= MAX_DEPTH) return this.#refuse(path, `lies more than ${MAX_DEPTH} folders deep`);
      this.#folders.push(path);
      return;
    }
    const problem = oddity(stats, { owner: this.#limits.owner, isSole: true });
    if (problem !== null) return this.#refuse(path, problem);
    this.files.push({ path, size: Number(stats.size) });
  }

  #refuse(path: string, reason: string): void {
    this.refused.push({ path, reason });
  }
}
