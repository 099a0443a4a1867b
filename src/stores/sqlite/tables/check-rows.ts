/** Compares every job of a database with its checksums, for `doctor --deep`. Changes nothing. */
import { readDatabase } from '../check-database.ts';
import { allRows } from '../engine/sqlite-database.ts';
import { unpackRows } from './history-text.ts';
import type { JobRow, Part } from './job-row.ts';
import { damageOf, JOB_COLUMNS, readJob } from './job-row.ts';

const PAGE = 500;

export interface DamagedRow {
  readonly id: string;
  readonly part: Part | 'history';
}

export interface RowCheck {
  readonly jobs: number;
  readonly damaged: readonly DamagedRow[];
  /** Problems that SQLite finds when it compares every index with its table; empty if there are none. */
  readonly problems: readonly string[];
}

export function checkRows(path: string): RowCheck {
  return readDatabase(path, (db) => {
    const problems = allRows<readonly [string]>(db.prepare('PRAGMA integrity_check(20)')).map(([problem]) => problem);
    const page = db.prepare(`SELECT jobs.history, ${JOB_COLUMNS} FROM jobs WHERE seq > ? ORDER BY seq LIMIT ?`);
    const damaged: DamagedRow[] = [];
    let jobs = 0;
    for (let after = -1; ; ) {
      const rows = allRows<readonly [string, ...JobRow]>(page, after, PAGE);
      for (const row of rows) damaged.push(...damageIn(row));
      jobs += rows.length;
      if (rows.length < PAGE) break;
      after = rows.at(-1)?.[1] ?? after;
    }
    return { jobs, damaged, problems: problems.join() === 'ok' ? [] : problems };
  });
}

function damageIn([history, ...row]: readonly [string, ...JobRow]): readonly DamagedRow[] {
  const job = readJob(row);
  const part = damageOf(job);
  if (part !== null) return [{ id: job.id, part }];
  try {
    unpackRows(history, job.createdAt);
    return [];
  } catch {
    return [{ id: job.id, part: 'history' }];
  }
}
