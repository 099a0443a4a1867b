/** The attempts that occupy the slots of a worker now. */
import type { Attempt } from './attempt.ts';
import type { StopReason } from './stop-reason.ts';

export class RunningAttempts {
  /**
   * Indexed by entry in the lease table. An array and not a map by token: V8 copies a long-lived map that changes with
   * every job again and again, and the jobs in its old copies outlive the next garbage collections.
   */
  readonly #byEntry: (Attempt | null)[] = [];
  #size = 0;
  #onEmpty: (() => void)[] = [];

  get size(): number {
    return this.#size;
  }

  all(): readonly Attempt[] {
    return this.#byEntry.filter((attempt) => attempt !== null);
  }

  get(token: number): Attempt | undefined {
    return this.all().find(({ job }) => job.lease.token === token);
  }

  /** Returns the attempt of the same job with an older lease, if it still runs. */
  earlierOf({ job }: Attempt): Attempt | undefined {
    // Most jobs are in their first attempt, and need no search.
    if (job.attempt === 1) return undefined;
    for (const each of this.#byEntry)
      if (each !== null && each.job.id === job.id && each.job.lease.token < job.lease.token) return each;
    return undefined;
  }

  add(attempt: Attempt): void {
    while (this.#byEntry.length <= attempt.entry) this.#byEntry.push(null);
    this.#byEntry[attempt.entry] = attempt;
    this.#size += 1;
  }

  remove(attempt: Attempt): void {
    this.#byEntry[attempt.entry] = null;
    this.#size -= 1;
    if (this.#size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
  }

  /** Closes all attempts without a settlement and returns them: the next process adopts them. */
  leaveAll(): readonly Attempt[] {
    const attempts = this.all();
    for (const attempt of attempts) attempt.close();
    this.#byEntry.length = 0;
    this.#size = 0;
    return attempts;
  }

  stopAll(reason: StopReason, graceMs?: number): void {
    for (const attempt of this.all()) attempt.stop(reason, graceMs);
  }

  whenEmpty(): Promise<void> {
    if (this.#size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }
}
