/** Queries for retention and failure groups: ended jobs by end time, drafts by age, failed jobs by group. */

import type { EndedState, Job, JobState } from '../../../core/job/job.ts';
import type { CurrentFailureGroup } from '../../../core/statistics/failure-trend.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';
import type { JobRow } from './job-row.ts';
import { JOB_COLUMNS, readJob } from './job-row.ts';
import type { QueueCounters } from './queue-counters.ts';

type GroupRow = readonly [group: string, count: number, firstAt: number, lastAt: number];

export class EndedJobs {
  readonly #counters: QueueCounters;
  readonly #before: Statement;
  readonly #oldest: Statement;
  readonly #from: Statement;
  readonly #results: Statement;
  readonly #resultsFrom: Statement;
  readonly #setResultsFrom: Statement;
  readonly #drafts: Statement;
  readonly #countEnded: Statement;
  readonly #countDrafts: Statement;
  readonly #groups: Statement;
  readonly #sample: Statement;

  constructor(db: Database, counters: QueueCounters) {
    const select = `SELECT ${JOB_COLUMNS} FROM jobs`;
    const ended = `${select} INDEXED BY jobs_ended WHERE ended_at IS NOT NULL AND queue = ? AND state = ?`;
    this.#counters = counters;
    this.#before = db.prepare(`${ended} AND ended_at < ? ORDER BY ended_at, seq LIMIT +?`);
    this.#oldest = db.prepare(`${ended} ORDER BY ended_at, seq LIMIT +?`);
    this.#from = db.prepare(`${ended} AND ended_at >= ? ORDER BY ended_at, seq LIMIT +?`);
    this.#results = db.prepare(`${ended} AND ended_at >= ? AND result IS NOT NULL ORDER BY ended_at, seq LIMIT +?`);
    this.#resultsFrom = db.prepare('SELECT results_from FROM queues WHERE name = ?');
    this.#setResultsFrom = db.prepare('UPDATE queues SET results_from = ? WHERE name = ?');
    this.#drafts = db.prepare(`${select} INDEXED BY jobs_draft
      WHERE draft_at IS NOT NULL AND draft_at < ? ORDER BY draft_at, seq LIMIT +?`);
    this.#countEnded = db.prepare(`SELECT count(*) FROM jobs INDEXED BY jobs_ended
      WHERE ended_at IS NOT NULL AND queue = ? AND state = ? AND ended_at < ?`);
    this.#countDrafts = db.prepare(`SELECT count(*) FROM jobs INDEXED BY jobs_draft
      WHERE draft_at IS NOT NULL AND queue = ? AND state = ? AND draft_at < ?`);
    this.#groups = db.prepare(`SELECT failure_group, count(*), min(failed_at), max(failed_at)
      FROM jobs INDEXED BY jobs_failed WHERE failed_at IS NOT NULL AND queue = ? GROUP BY failure_group`);
    this.#sample = db.prepare(`SELECT id FROM jobs INDEXED BY jobs_failed
      WHERE failed_at IS NOT NULL AND queue = ? AND failure_group = ? ORDER BY failed_at DESC, seq DESC LIMIT 1`);
  }

  before(queue: string, state: JobState, { time, limit }: { time: number; limit: number }): readonly Job[] {
    return allRows<JobRow>(this.#before, queue, state, time, limit).map(readJob);
  }

  countBefore(queue: string, state: JobState, time: number): number {
    const statement = state === 'draft' ? this.#countDrafts : this.#countEnded;
    return firstRow<readonly [number]>(statement, queue, state, time)?.[0] ?? 0;
  }

  /** Returns the jobs beyond the `count` that ended last, oldest first. */
  beyond(queue: string, state: JobState, { count, limit }: { count: number; limit: number }): readonly Job[] {
    const surplus = Math.min(limit, this.#counters.of(queue)[state] - count);
    return surplus <= 0 ? [] : allRows<JobRow>(this.#oldest, queue, state, surplus).map(readJob);
  }

  oldest(queue: string, state: EndedState, { from, limit }: { from: number; limit: number }): readonly Job[] {
    return allRows<JobRow>(this.#from, queue, state, from, limit).map(readJob);
  }

  /** Returns done jobs that have a result. */
  results(queue: string, { from, limit }: { from: number; limit: number }): readonly Job[] {
    return allRows<JobRow>(this.#results, queue, 'done', from, limit).map(readJob);
  }

  resultsFrom(queue: string): number {
    return firstRow<readonly [number]>(this.#resultsFrom, queue)?.[0] ?? 0;
  }

  setResultsFrom(queue: string, endedAt: number): void {
    execute(this.#setResultsFrom, endedAt, queue);
  }

  draftsBefore(time: number, limit: number): readonly Job[] {
    return allRows<JobRow>(this.#drafts, time, limit).map(readJob);
  }

  failures(queue: string): readonly CurrentFailureGroup[] {
    return allRows<GroupRow>(this.#groups, queue).map(([group, count, firstAt, lastAt]) => {
      const [sampleId] = firstRow<readonly [string]>(this.#sample, queue, group) ?? [''];
      return { queue, group, count, firstAt, lastAt, sampleId };
    });
  }
}
