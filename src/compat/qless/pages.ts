/** Longhaul's lists have cursors, qless's an offset and a count: pages are read until there are enough jobs. */
import type { Job } from '../../core/job/job.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import type { Call, Span } from './arguments.ts';

const PAGE = 500;
export const EVERY: Span = { offset: 0, count: Number.MAX_SAFE_INTEGER };

type Query = Omit<JobQuery, 'order' | 'limit'>;

export async function jobsOf(call: Call, query: Query, span: Span, isMeant = anyJob): Promise<readonly Job[]> {
  const { jobs } = call.longhaul.store;
  const [found, most]: [Job[], number] = [[], span.offset + span.count];
  for (let after: string | undefined; found.length < most; ) {
    const page = await jobs.list({ ...query, order: 'newest', limit: PAGE, ...(after && { after }) });
    found.push(...page.jobs.filter(isMeant));
    if (page.next === null) break;
    after = page.next;
  }
  return found.slice(span.offset, most);
}

function anyJob(_job: Job): boolean {
  return true;
}

export const idsOf = (jobs: readonly Job[]): readonly string[] => jobs.map(({ id }) => id);
