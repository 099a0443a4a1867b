/** Unique keys and the jobs that hold them. */
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { firstRow } from '../engine/sqlite-database.ts';

export class UniqueKeys {
  readonly #holder: Statement;
  readonly #take: Statement;
  readonly #release: Statement;

  constructor(db: Database) {
    this.#holder = db.prepare('SELECT job FROM keys WHERE address = ? AND (until IS NULL OR until > ?)');
    this.#take = db.prepare('INSERT OR REPLACE INTO keys (address, job, until) VALUES (?, ?, ?)');
    this.#release = db.prepare('DELETE FROM keys WHERE address = ? AND job = ?');
  }

  holder(address: string, now: number): string | undefined {
    return firstRow<readonly [string]>(this.#holder, address, now)?.[0];
  }

  take(address: string, job: string, until: number | null): void {
    this.#take.run(address, job, until);
  }

  release(address: string, job: string): void {
    this.#release.run(address, job);
  }
}
