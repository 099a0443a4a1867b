/** The steps of jobs: one row each, deleted with the job. The job's record has their number and bytes. */
import type { Job } from '../../core/job/job.ts';
import type { Step, StepKind, StepStatus } from '../../core/job/step.ts';
import type { Database, Statement } from './engine/sqlite-database.ts';
import { allRows, execute, firstRow } from './engine/sqlite-database.ts';

type StepRow = readonly [
  number: number,
  kind: StepKind,
  name: string,
  status: StepStatus,
  result: string | null,
  failure: string | null,
  attempts: number,
  startedAt: number,
  endedAt: number | null,
  until: number | null,
];
const COLUMNS = 'number, kind, name, status, result, failure, attempts, started_at, ended_at, until';

export class StepRows {
  readonly #all: Statement;
  readonly #one: Statement;
  readonly #put: Statement;
  readonly #remove: Statement;

  constructor(db: Database) {
    this.#all = db.prepare(`SELECT ${COLUMNS} FROM steps WHERE job = ? ORDER BY number`);
    this.#one = db.prepare(`SELECT ${COLUMNS} FROM steps WHERE job = ? AND kind = ? AND name = ?`);
    this.#put = db.prepare(
      `INSERT OR REPLACE INTO steps (job, ${COLUMNS}) VALUES (?, ${COLUMNS.replaceAll(/\w+/g, '?')})`,
    );
    this.#remove = db.prepare('DELETE FROM steps WHERE job = ?');
  }

  of({ seq }: Job): readonly Step[] {
    return allRows<StepRow>(this.#all, seq).map(readStep);
  }

  get({ seq }: Job, kind: StepKind, name: string): Step | undefined {
    const row = firstRow<StepRow>(this.#one, seq, kind, name);
    return row === undefined ? undefined : readStep(row);
  }

  put({ seq }: Job, step: Step): void {
    const { number, kind, name, status, result, failure, attempts, startedAt, endedAt, until } = step;
    execute(this.#put, seq, number, kind, name, status, result, failure, attempts, startedAt, endedAt, until);
  }

  remove({ seq }: Job): void {
    this.#remove.run(seq);
  }
}

function readStep([number, kind, name, status, result, failure, attempts, startedAt, endedAt, until]: StepRow): Step {
  return { number, kind, name, status, result, failure, attempts, startedAt, endedAt, until };
}
