/**
 * Filters a list of jobs by conditions that stores do not evaluate, because a store never parses data.
 *
 * Reads page after page from the store. A call scans a bounded number of jobs; a page may be short and still have a
 * `next`.
 */

import type { JobPage, JobQuery, JobStore } from '../ports/job-store.ts';
import type { Job } from './job.ts';

const STEP = 500;
const MAX_SCANNED = 5_000;

export async function filterPages(
  jobs: Pick<JobStore, 'list'>,
  query: JobQuery,
  matches: (job: Job) => boolean | Promise<boolean>,
): Promise<JobPage> {
  const found: Job[] = [];
  let { after } = query;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += STEP) {
    const page = await jobs.list({ ...query, limit: STEP, ...(after !== undefined && { after }) });
    for (const job of page.jobs) {
      after = String(job.seq);
      if (await matches(job)) found.push(job);
      if (found.length === query.limit) return { jobs: found, next: after };
    }
    if (page.next === null) return { jobs: found, next: null };
    after = page.next;
  }
  return { jobs: found, next: after ?? null };
}

/** A query with free text: it matches the id, the name, a tag, the failure or any part of the data. */
export interface TextQuery extends JobQuery {
  readonly text?: string;
}

export function listJobs(jobs: Pick<JobStore, 'list'>, { text, ...query }: TextQuery): Promise<JobPage> {
  if (text === undefined || text === '' || query.order === 'claim') return jobs.list(query);
  const lowerCase = text.toLowerCase();
  return filterPages(jobs, query, (job) =>
    searchableTexts(job).some((candidate) => candidate.toLowerCase().includes(lowerCase)),
  );
}

function searchableTexts({ id, name, tags, failure, data }: Job): readonly string[] {
  return [id, name ?? '', ...tags, failure?.group ?? '', failure?.message ?? '', data];
}
