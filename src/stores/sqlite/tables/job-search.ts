/**
 * Lists jobs by a query, newest first.
 *
 * A condition with an index of its own selects the jobs (tag, name, group, worker). Without one, the newest jobs of each
 * queue and state are read from the indexes of that state and merged; an index is read only as far as it can still
 * contribute. Ended jobs have an index in the right order. Other jobs do not, because it would slow down every claim: few
 * jobs are sorted, and of many, a scan of all jobs soon finds the newest.
 */

import type { Job, JobState } from '../../../core/job/job.ts';
import { isEnded, JOB_STATES } from '../../../core/job/job.ts';
import { type TagCount, tagOrder } from '../../../core/ports/insight.ts';
import type { JobQuery } from '../../../core/ports/job-store.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows } from '../engine/sqlite-database.ts';
import type { JobRow } from './job-row.ts';
import { JOB_COLUMNS, readJob } from './job-row.ts';
import type { QueueCounters } from './queue-counters.ts';

interface Condition {
  readonly sql: string;
  readonly value: string | number;
}

/** The indexes that together contain all jobs of a state. */
const STATE_INDEXES: Record<JobState, readonly string[]> = {
  draft: ['jobs_draft WHERE draft_at IS NOT NULL'],
  waiting: [
    'jobs_ready WHERE ready = 1 AND returned_at IS NULL',
    'jobs_returned WHERE ready = 1 AND returned_at IS NOT NULL',
    'jobs_later WHERE ready = 0',
    'jobs_parked WHERE ready = 2',
    'jobs_blocked WHERE blocked IS NOT NULL',
  ],
  running: ['jobs_leased WHERE lease_until IS NOT NULL'],
  done: [`jobs_newest WHERE ended_at IS NOT NULL AND state = 'done'`],
  failed: [`jobs_newest WHERE ended_at IS NOT NULL AND state = 'failed'`],
  cancelled: [`jobs_newest WHERE ended_at IS NOT NULL AND state = 'cancelled'`],
};
/** More jobs than this are not sorted. */
export const MAX_SORTED = 50_000;
/** Up to this many jobs are sorted directly; with more, the newest jobs of the store are scanned first. */
export const FEW = 500;
const PROBED = 1_000;

export class JobSearch {
  readonly #db: Database;
  readonly #counters: QueueCounters;
  readonly #newest: Statement;
  readonly #these: Statement;
  readonly #tags: Statement;

  constructor(db: Database, counters: QueueCounters) {
    this.#db = db;
    this.#counters = counters;
    this.#newest = db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs WHERE seq < ? ORDER BY seq DESC LIMIT +?`);
    this.#these = db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs
      WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq DESC`);
    this.#tags = db.prepare('SELECT tag, count(*) AS jobs FROM tags GROUP BY tag ORDER BY jobs DESC, tag LIMIT +?');
  }

  topTags(limit: number): readonly TagCount[] {
    const rows = allRows<readonly [string, number]>(this.#tags, limit);
    return rows.map(([tag, jobs]) => ({ tag, jobs })).sort(tagOrder);
  }

  scan(query: JobQuery, belowSeq: number, limit: number): readonly Job[] {
    const source = indexedSourceOf(query);
    if (source !== undefined) return this.#byIndex(query, source, { belowSeq, limit });
    const { queue, state, since, before } = query;
    const hasNone = [queue, state, since, before].every((condition) => condition === undefined);
    if (hasNone) return allRows<JobRow>(this.#newest, belowSeq, limit).map(readJob);
    const seqs = this.#amongNewest(query, belowSeq, limit) ?? this.#newestOfStates(query, belowSeq, limit);
    return allRows<JobRow>(this.#these, JSON.stringify(seqs)).map(readJob);
  }

  /** Prepares the statement each time: there are many combinations, and lists are rare. */
  #byIndex(query: JobQuery, from: string, { belowSeq, limit }: { belowSeq: number; limit: number }): readonly Job[] {
    const conditions = conditionsOf(query);
    const where = ['jobs.seq < ?', ...conditions.map(({ sql }) => sql)].join(' AND ');
    const seqs = `SELECT jobs.seq FROM ${from} WHERE ${where} ORDER BY jobs.seq DESC LIMIT +?`;
    const statement = this.#db.prepare(`SELECT ${JOB_COLUMNS} FROM jobs WHERE seq IN (${seqs}) ORDER BY seq DESC`);
    return allRows<JobRow>(statement, belowSeq, ...conditions.map(({ value }) => value), limit).map(readJob);
  }

  /**
   * Returns the page if all its jobs are among the newest of the store, as is usual when many jobs wait: it avoids sorting
   * thousands. Returns null if they are not, or if there is little to sort.
   */
  #amongNewest(query: JobQuery, belowSeq: number, limit: number): readonly number[] | null {
    if (limit > PROBED || !this.#hasManyToSort(query)) return null;
    const conditions = conditionsOf(query);
    const where = conditions.map(({ sql }) => sql).join(' AND ');
    const newest = `SELECT seq, queue, state, created_at FROM jobs NOT INDEXED WHERE seq < ? ORDER BY seq DESC LIMIT ${PROBED}`;
    const statement = this.#db.prepare(`SELECT seq FROM (${newest}) AS jobs WHERE ${where} ORDER BY seq DESC LIMIT +?`);
    const rows = allRows<readonly [number]>(statement, belowSeq, ...conditions.map(({ value }) => value), limit);
    return rows.length < limit ? null : rows.map(([seq]) => seq);
  }

  #hasManyToSort({ queue, state }: JobQuery): boolean {
    if (state !== undefined && isEnded(state)) return false;
    const states = state === undefined ? JOB_STATES.filter((each) => !isEnded(each)) : [state];
    const queues = queue === undefined ? this.#counters.queues() : [queue];
    return queues.some((each) => states.some((one) => this.#counters.of(each)[one] > FEW));
  }

  #newestOfStates(query: JobQuery, belowSeq: number, limit: number): readonly number[] {
    const times = timesOf(query);
    const where = ['queue = ?', 'seq > ?', 'seq < ?', ...times.map(({ sql }) => sql)].join(' AND ');
    let newest: number[] = [];
    for (const { queue, from } of this.#sources(query)) {
      const least = newest.length < limit ? 0 : (newest[limit - 1] ?? 0);
      const statement = this.#db.prepare(`SELECT seq FROM jobs ${from} AND ${where} ORDER BY seq DESC LIMIT +?`);
      const values = [queue, least, belowSeq, ...times.map(({ value }) => value), limit];
      const rows = allRows<readonly [number]>(statement, ...values);
      if (rows.length === 0) continue;
      newest = [...newest, ...rows.map(([seq]) => seq)].sort((a, b) => b - a).slice(0, limit);
    }
    return newest;
  }

  #sources(query: JobQuery): readonly { readonly queue: string; readonly from: string }[] {
    const queues = query.queue === undefined ? this.#counters.queues() : [query.queue];
    const states = query.state === undefined ? JOB_STATES : [query.state];
    return queues.flatMap((queue) => {
      const counts = this.#counters.of(queue);
      const filled = states.filter((state) => counts[state] > 0);
      return filled.flatMap((state) => sourcesOf(state, counts[state]).map((from) => ({ queue, from })));
    });
  }
}

function sourcesOf(state: JobState, count: number): readonly string[] {
  if (!isEnded(state) && count > MAX_SORTED) return [`NOT INDEXED WHERE state = '${state}'`];
  return STATE_INDEXES[state].map((index) => `INDEXED BY ${index}`);
}

const TAGGED = 'tags CROSS JOIN jobs ON jobs.seq = tags.seq';
/** Returns the tables to search if a condition has an index of its own. */
function indexedSourceOf({ tag, name, worker, group, parent, child }: JobQuery): string | undefined {
  if (parent !== undefined || child !== undefined) return tag === undefined ? 'jobs NOT INDEXED' : TAGGED;
  if (tag !== undefined) return TAGGED;
  if (name !== undefined) return 'jobs INDEXED BY jobs_named';
  if (group !== undefined) return 'jobs INDEXED BY jobs_failed';
  if (worker !== undefined) return 'jobs INDEXED BY jobs_leased';
  return undefined;
}

const SEQ_OF = 'SELECT seq FROM jobs AS known WHERE known.id = ?';

function conditionsOf(query: JobQuery): readonly Condition[] {
  const { tag, name, worker, group, queue, state, parent, child } = query;
  const others = given([
    { sql: `jobs.seq IN (SELECT child FROM edges WHERE parent = (${SEQ_OF}))`, value: parent },
    { sql: `jobs.seq IN (SELECT parent FROM edges WHERE child = (${SEQ_OF}))`, value: child },
    { sql: 'tags.tag = ?', value: tag },
    { sql: 'jobs.name = ?', value: name },
    { sql: 'jobs.failed_at IS NOT NULL AND jobs.failure_group = ?', value: group },
    { sql: 'jobs.lease_until IS NOT NULL AND jobs.worker = ?', value: worker },
    { sql: 'jobs.queue = ?', value: queue },
    { sql: 'jobs.state = ?', value: state },
  ]);
  return [...others, ...timesOf(query)];
}

function timesOf({ since, before }: JobQuery): readonly Condition[] {
  return given([
    { sql: 'jobs.created_at >= ?', value: since },
    { sql: 'jobs.created_at < ?', value: before },
  ]);
}

function given(
  conditions: readonly { readonly sql: string; readonly value: string | number | undefined }[],
): readonly Condition[] {
  return conditions.filter((condition): condition is Condition => condition.value !== undefined);
}
