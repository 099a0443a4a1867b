/**
 * `router.json`, read again when it changes. An invalid file leaves its last valid rules in effect and is reported
 * once; the next job reads it again.
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

  /** Throws the problem if the file was never valid. */
  async rules(): Promise<RouterRules> {
    const { mtimeMs, size, ino } = await stat(this.#path);
    const version = `${mtimeMs} ${size} ${ino}`;
    if (version !== this.#seen) await this.#read(version);
    if (this.#rules === null) throw this.#problem ?? new Error(`${this.#path} could not be read`);
    return this.#rules;
  }

  async #read(version: string): Promise<void> {
    try {
      this.#rules = parseRouterRules(await readFile(this.#path, 'utf8'));
      this.#problem = null;
    } catch (error) {
      this.#problem = error as Error;
      if (this.#rules !== null) this.#onTrouble('router.json is invalid; the last valid rules stay in effect', error);
    }
    this.#seen = version;
  }
}
