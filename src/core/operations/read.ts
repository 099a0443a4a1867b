/** Reads jobs. Nothing here writes, and every search scans a bounded number of jobs. */

import type { Job } from '../job/job.ts';
import { labelOf, withWaitReason } from '../job/label.ts';
import type { Moment } from '../lifecycle/clock.ts';
import type { JobPage, JobQuery, QueueCounts } from '../ports/job-store.ts';
import type { Table } from '../ports/table.ts';
import { waitReasonOf } from './limits/throttle-reads.ts';

const SCAN_STEP = 500;
const MAX_SCANNED = 5_000;

export function list(table: Table, query: JobQuery, moment: Moment): JobPage {
  return query.order === 'claim' ? peek(table, query, moment) : newest(table, query, moment);
}

function peek(table: Table, query: JobQuery, { now }: Moment): JobPage {
  const queue = query.queue ?? '';
  const offset = Number(query.after ?? 0);
  if (table.settings(queue).state !== 'up') return { jobs: [], next: null };
  const jobs = table.ready(queue, now, { limit: query.limit, offset, forClaim: false });
  return { jobs, next: jobs.length < query.limit ? null : String(offset + jobs.length) };
}

function newest(table: Table, query: JobQuery, { now }: Moment): JobPage {
  const jobs: Job[] = [];
  let below = query.after === undefined ? Number.MAX_SAFE_INTEGER : Number(query.after);
  // Without a label every scanned job matches, so no more are read than are wanted.
  const most = query.label === undefined ? Math.min(SCAN_STEP, query.limit) : SCAN_STEP;
  for (let scanned = 0; scanned < MAX_SCANNED; ) {
    const step = table.scan(query, below, most);
    for (const job of step) {
      below = job.seq;
      if (matches(table, query, job, now)) jobs.push(job);
      if (jobs.length === query.limit) return { jobs, next: String(below) };
    }
    if (step.length < most) return { jobs, next: null };
    scanned += step.length;
  }
  return { jobs, next: String(below) };
}

function matches(table: Table, query: JobQuery, job: Job, now: number): boolean {
  if (query.label === undefined) return true;
  const labelled = labelOf(job, table.settings(job.queue), now);
  const waitReason = labelled.label === 'ready' ? waitReasonOf(table, job, now) : null;
  return withWaitReason(labelled, waitReason).label === query.label;
}

/** The filter that a scan must apply; a table may use an index for any part of it. */
export function isWanted(query: JobQuery, job: Job): boolean {
  return (
    (query.queue === undefined || job.queue === query.queue) &&
    (query.state === undefined || job.state === query.state) &&
    (query.tag === undefined || job.tags.includes(query.tag)) &&
    (query.name === undefined || job.name === query.name) &&
    (query.worker === undefined || job.lease?.worker === query.worker) &&
    (query.group === undefined || (job.state === 'failed' && job.failure?.group === query.group)) &&
    (query.since === undefined || job.createdAt >= query.since) &&
    (query.before === undefined || job.createdAt < query.before)
  );
}

export function count(table: Table, queues: readonly string[] | undefined, { now }: Moment): readonly QueueCounts[] {
  return (queues ?? table.queues()).map((queue) => table.count(queue, now));
}
