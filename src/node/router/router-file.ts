/**
 * `router.json`, read again whenever it has changed. A file that is wrong leaves in force what it said before, and its
 * problem is told once; the next job finds it right as soon as it is.
 */
import { readFile, stat } from 'node:fs/promises';
import type { RouterRules } from './router-rules.ts';
import { parseRouterRules } from './router-rules.ts';

export class RouterFile {
  readonly #path: string;
  readonly #onTrouble: (what: string, error: unknown) => void;
  #seen = '';
  #rules: RouterRules | null = null;
  #problem: Error | null = null;

  constructor(path: string, onTrouble: (what: string, error: unknown) => void) {
    this.#path = path;
    this.#onTrouble = onTrouble;
  }

  /** Throws what is wrong with it where it was never right. */
  async rules(): Promise<RouterRules> {
    const { mtimeMs, size, ino } = await stat(this.#path);
    const mark = `${mtimeMs} ${size} ${ino}`;
    if (mark !== this.#seen) await this.#read(mark);
    if (this.#rules === null) throw this.#problem ?? new Error(`${this.#path} could not be read`);
    return this.#rules;
  }

  async #read(mark: string): Promise<void> {
    try {
      this.#rules = parseRouterRules(await readFile(this.#path, 'utf8'));
      this.#problem = null;
    } catch (error) {
      this.#problem = error as Error;
      if (this.#rules !== null) this.#onTrouble('router.json is wrong; the rules stay as they were', error);
    }
    this.#seen = mark;
  }
}
