/**
 * Jobs of a list that fit what no store knows: page after page is asked for and looked at here, since no store ever looks
 * into data. Every call looks at a bounded number; a page may be short and still have a `next`.
 */

import type { JobPage, JobQuery, JobStore } from '../ports/job-store.ts';
import type { Job } from './job.ts';

const STEP = 500;
const MAX_SCANNED = 5_000;

export async function lookThrough(
  jobs: Pick<JobStore, 'list'>,
  query: JobQuery,
  fits: (job: Job) => boolean | Promise<boolean>,
): Promise<JobPage> {
  const found: Job[] = [];
  let { after } = query;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += STEP) {
    const page = await jobs.list({ ...query, limit: STEP, ...(after !== undefined && { after }) });
    for (const job of page.jobs) {
      after = String(job.seq);
      if (await fits(job)) found.push(job);
      if (found.length === query.limit) return { jobs: found, next: after };
    }
    if (page.next === null) return { jobs: found, next: null };
    after = page.next;
  }
  return { jobs: found, next: after ?? null };
}

/** A query of people, who also remember words: of the id, the name, a tag, the failure or anything in the data. */
export interface WordQuery extends JobQuery {
  readonly text?: string;
}

export function listJobs(jobs: Pick<JobStore, 'list'>, { text, ...query }: WordQuery): Promise<JobPage> {
  if (text === undefined || text === '' || query.order === 'claim') return jobs.list(query);
  const small = text.toLowerCase();
  return lookThrough(jobs, query, (job) => wordsOf(job).some((words) => words.toLowerCase().includes(small)));
}

function wordsOf({ id, name, tags, failure, data }: Job): readonly string[] {
  return [id, name ?? '', ...tags, failure?.group ?? '', failure?.message ?? '', data];
}
