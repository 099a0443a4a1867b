/**
 * Finding jobs for people: the newest first, by any of a query's conditions, over an index for each of them.
 *
 * Conditions with an index of their own lead (tag, name, group, worker). A queue or a state alone leads through
 * the lanes: one for each queue and state that has jobs, each newest first, from which the newest of all are
 * taken; a lane is read only as far as it can still contribute.
 */
import type { Job, JobState } from '../../core/job.ts';
import { JOB_STATES } from '../../core/job.ts';
import type { JobQuery } from '../../core/job-store.ts';
import { JOB_COLUMNS } from './job-columns.ts';
import type { JobRow } from './job-row.ts';
import { readJob } from './job-row.ts';
import type { QueueCounters } from './queue-counters.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { allRows } from './sqlite-database.ts';

interface Condition {
  readonly sql: string;
  readonly value: string | number;
}

export class JobSearch {
  readonly #db: Database;
  readonly #counters: QueueCounters;
  readonly #newest: Statement;
  readonly #lane: Statement;
  readonly #these: Statement;

  constructor(db: Database, counters: QueueCounters) {
    this.#db = db;
    this.#counters = counters;
    this.#newest = db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs WHERE seq < ? ORDER BY seq DESC LIMIT ?`);
    this.#lane = db.prepare(`SELECT seq FROM jobs INDEXED BY jobs_newest
      WHERE queue = ? AND state = ? AND seq > ? AND seq < ? AND created_at >= ? AND created_at < ?
      ORDER BY seq DESC LIMIT ?`);
    this.#these = db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs
      WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`);
  }

  scan(query: JobQuery, belowSeq: number, limit: number): readonly Job[] {
    const leader = leaderOf(query);
    if (leader !== undefined) return this.#led(query, leader, { belowSeq, limit });
    const { queue, state, since, before } = query;
    const hasNone = [queue, state, since, before].every((condition) => condition === undefined);
    if (hasNone) return allRows<JobRow>(this.#newest, belowSeq, limit).map(readJob);
    const seqs = this.#newestOfLanes(query, belowSeq, limit);
    return allRows<JobRow>(this.#these, JSON.stringify(seqs)).map(readJob);
  }

  /** Prepared anew each time: there are many combinations, and people ask seldom. */
  #led(query: JobQuery, from: string, { belowSeq, limit }: { belowSeq: number; limit: number }): readonly Job[] {
    const conditions = conditionsOf(query);
    const where = ['jobs.seq < ?', ...conditions.map(({ sql }) => sql)].join(' AND ');
    const seqs = `SELECT jobs.seq FROM ${from} WHERE ${where} ORDER BY jobs.seq DESC LIMIT ?`;
    const statement = this.#db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs WHERE seq IN (${seqs}) ORDER BY seq DESC`);
    return allRows<JobRow>(statement, belowSeq, ...conditions.map(({ value }) => value), limit).map(readJob);
  }

  #newestOfLanes(query: JobQuery, belowSeq: number, limit: number): readonly number[] {
    const { since = Number.MIN_SAFE_INTEGER, before = Number.MAX_SAFE_INTEGER } = query;
    let newest: number[] = [];
    for (const { queue, state } of this.#lanes(query)) {
      const least = newest.length < limit ? 0 : (newest[limit - 1] ?? 0);
      const rows = allRows<readonly [number]>(this.#lane, queue, state, least, belowSeq, since, before, limit);
      if (rows.length === 0) continue;
      newest = [...newest, ...rows.map(([seq]) => seq)].sort((a, b) => b - a).slice(0, limit);
    }
    return newest;
  }

  #lanes(query: JobQuery): readonly { readonly queue: string; readonly state: JobState }[] {
    const queues = query.queue === undefined ? this.#counters.queues() : [query.queue];
    const states = query.state === undefined ? JOB_STATES : [query.state];
    return queues.flatMap((queue) => {
      const counts = this.#counters.of(queue);
      return states.filter((state) => counts[state] > 0).map((state) => ({ queue, state }));
    });
  }
}

/** The tables to search where one of the conditions has an index of its own. */
function leaderOf({ tag, name, worker, group }: JobQuery): string | undefined {
  if (tag !== undefined) return 'tags CROSS JOIN jobs ON jobs.seq = tags.seq';
  if (name !== undefined) return 'jobs INDEXED BY jobs_named';
  if (group !== undefined) return 'jobs INDEXED BY jobs_failed';
  if (worker !== undefined) return 'jobs INDEXED BY jobs_leased';
  return undefined;
}

function conditionsOf(query: JobQuery): readonly Condition[] {
  const { tag, name, worker, group, queue, state, since, before } = query;
  const all: readonly { readonly sql: string; readonly value: string | number | undefined }[] = [
    { sql: 'tags.tag = ?', value: tag },
    { sql: 'jobs.name = ?', value: name },
    { sql: `jobs.state = 'failed' AND jobs.failure_group = ?`, value: group },
    { sql: 'jobs.lease_until IS NOT NULL AND jobs.worker = ?', value: worker },
    { sql: 'jobs.queue = ?', value: queue },
    { sql: 'jobs.state = ?', value: state },
    { sql: 'jobs.created_at >= ?', value: since },
    { sql: 'jobs.created_at < ?', value: before },
  ];
  return all.filter((condition): condition is Condition => condition.value !== undefined);
}
