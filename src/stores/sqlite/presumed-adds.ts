/** Decides whether an add presumes that its jobs are new, which saves a query for each id. */
import type { NewJob } from '../../core/ports/job-store.ts';
import { closedState } from '../../core/settings/delete-queue.ts';
import type { SqliteTable } from './tables/sqlite-table.ts';

/** How many jobs are added with a query for their id, after one that existed. */
const CHECKED_ADDS = 10_000;

export class PresumedAdds {
  readonly #table: SqliteTable;
  #checkedAdds = 0;

  constructor(table: SqliteTable) {
    this.#table = table;
  }

  mayPresume(jobs: readonly NewJob[]): boolean {
    if (this.#checkedAdds > 0) this.#checkedAdds -= jobs.length;
    return this.#checkedAdds <= 0 && this.#table.closed() === null && jobs.every((job) => this.#isOrdinary(job));
  }

  /** Called when a job existed that was presumed new: adds query for their ids for a while. */
  checkAdds(): void {
    this.#checkedAdds = CHECKED_ADDS;
  }

  /** Whether the add of a job that exists fails at the unique index: it reads no other job, and no queue refuses it. */
  #isOrdinary({ queue, unique, onTaken, dependsOn }: NewJob): boolean {
    if (unique !== undefined || onTaken !== undefined || dependsOn !== undefined) return false;
    return closedState(this.#table.settings(queue)) === null;
  }
}
