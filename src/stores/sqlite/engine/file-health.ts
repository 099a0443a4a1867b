/**
 * Tracks whether the database file can still be used after a disk fault.
 *
 *     sound ──a call fails──▶ failing ──a probe succeeds──▶ sound
 *                                └──no probe succeeds for MAX_FAILING_MS, or a sync fails──▶ broken, for good
 *
 * The probe is needed because most calls find their pages in memory, and an idle store makes none.
 *
 * SQLite reports a read that failed with EIO as a damaged database. The probe distinguishes the two: it fails too on a disk
 * that cannot be read, and succeeds in a file with a damaged page.
 *
 * Invariant: a broken file is not used any more. After a failed sync the disk may have dropped written pages, and a second
 * sync would report success.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { describeFault, explain, isBusy, isDiskFault, isSync, isUnreadable, unreadable } from './sqlite-problem.ts';

/** A disk may fail for less than this time and recover. */
export const MAX_FAILING_MS = 2_000;
export const PROBE_EVERY_MS = 250;

export interface FileHealthOptions {
  readonly path: string;
  /** Reads and writes the file, and commits. Throws what a call would. Called outside of a transaction. */
  readonly probe: () => void;
}

interface Fault {
  readonly since: number;
  /** The first error: later ones may be its consequences. */
  readonly error: unknown;
}

export class FileHealth {
  readonly #options: FileHealthOptions;
  #fault: Fault | null = null;
  #broken: LonghaulError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probedAt = Number.NEGATIVE_INFINITY;

  constructor(options: FileHealthOptions) {
    this.#options = options;
  }

  /** The error that every call gets from now on; undefined while the file is used. */
  get broken(): LonghaulError | undefined {
    return this.#broken;
  }

  /** Records the error of a call. Errors that are not caused by the disk are ignored. */
  failed(error: unknown): void {
    if (this.#broken !== undefined || !(isDiskFault(error) || isUnreadable(error))) return;
    this.#fault ??= { since: performance.now(), error };
    if (isSync(error)) this.#break();
    else this.#schedule();
  }

  /** Records the error like `failed`, and returns the error for the caller. Called outside of a transaction. */
  explain(error: unknown): unknown {
    this.failed(error);
    if (isUnreadable(error) && !this.#isSound()) return unreadable(error, this.#options.path);
    return explain(error, this.#options.path);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #isSound(): boolean {
    if (performance.now() - this.#probedAt >= PROBE_EVERY_MS) this.#probe();
    return this.#fault === null;
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#probe();
    }, PROBE_EVERY_MS);
  }

  #probe(): void {
    const fault = this.#fault;
    if (this.#broken !== undefined || fault === null) return;
    try {
      this.#options.probe();
      this.#fault = null;
    } catch (error) {
      // The lock of another process is no evidence of a disk fault: the next probe decides.
      const isOver = performance.now() - fault.since >= MAX_FAILING_MS && !isBusy(error);
      if (isSync(error) || isOver) this.#break();
      else this.#schedule();
    }
    this.#probedAt = performance.now();
  }

  #break(): void {
    const { path } = this.#options;
    this.#broken = new LonghaulError(
      'store-closed',
      `${path} cannot be used any more: ${describeFault(this.#fault?.error)}; ` +
        'check the disk (dmesg, mount, df), then start the node again or reconnect',
      { cause: this.#fault?.error },
    );
  }
}
