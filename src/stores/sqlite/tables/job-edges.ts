/** Dependencies between jobs. An edge belongs to its child: it is deleted with the child, and may outlive its parent. */
import type { Job } from '../../../core/job/job.ts';
import type { Edge } from '../../../core/ports/table.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, firstRow } from '../engine/sqlite-database.ts';
import type { JobRow } from './job-row.ts';
import { JOB_COLUMNS, readJob } from './job-row.ts';

export class JobEdges {
  readonly #openChildren: Statement;
  readonly #openParents: Statement;
  readonly #get: Statement;
  readonly #put: Statement;
  readonly #drop: Statement;
  readonly #dropAll: Statement;

  constructor(db: Database) {
    this.#openChildren = db.prepare(`SELECT ${JOB_COLUMNS} FROM edges CROSS JOIN jobs ON jobs.seq = edges.child
      WHERE edges.parent = ? AND edges.open = 1 ORDER BY edges.child`);
    this.#openParents = db.prepare(`SELECT ${JOB_COLUMNS} FROM edges INDEXED BY edges_child CROSS JOIN jobs
      ON jobs.seq = edges.parent WHERE edges.child = ? AND edges.open = 1 ORDER BY edges.parent`);
    this.#get = db.prepare('SELECT open FROM edges WHERE parent = ? AND child = ?');
    this.#put = db.prepare('INSERT OR REPLACE INTO edges (parent, child, open) VALUES (?, ?, ?)');
    this.#drop = db.prepare('DELETE FROM edges WHERE parent = ? AND child = ?');
    this.#dropAll = db.prepare('DELETE FROM edges WHERE child = ?');
  }

  openChildren(parent: Job): readonly Job[] {
    return allRows<JobRow>(this.#openChildren, parent.seq).map(readJob);
  }

  openParents(child: Job): readonly Job[] {
    return allRows<JobRow>(this.#openParents, child.seq).map(readJob);
  }

  get(parent: Job, child: Job): Edge | null {
    const row = firstRow<readonly [number]>(this.#get, parent.seq, child.seq);
    if (row === undefined) return null;
    return row[0] === 1 ? 'open' : 'closed';
  }

  set(parent: Pick<Job, 'seq'>, child: Pick<Job, 'seq'>, edge: Edge | null): void {
    if (edge === null) this.#drop.run(parent.seq, child.seq);
    else this.#put.run(parent.seq, child.seq, edge === 'open' ? 1 : 0);
  }

  remove(child: Job): void {
    this.#dropAll.run(child.seq);
  }
}
