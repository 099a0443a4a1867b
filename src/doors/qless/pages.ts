/** Longhaul's lists go by cursors, qless's by offset and count: pages are read until there are enough. */
import type { Job } from '../../core/job.ts';
import type { JobQuery } from '../../core/job-store.ts';
import type { Call, Span } from './arguments.ts';

const PAGE = 500;
export const EVERY: Span = { offset: 0, count: Number.MAX_SAFE_INTEGER };

export async function jobsOf(
  { longhaul }: Call,
  query: Omit<JobQuery, 'order' | 'limit'>,
  { offset, count }: Span,
): Promise<readonly Job[]> {
  const found: Job[] = [];
  for (let after: string | undefined; found.length < offset + count; ) {
    const page = await longhaul.store.jobs.list({ ...query, order: 'newest', limit: PAGE, ...(after && { after }) });
    found.push(...page.jobs);
    if (page.next === null) break;
    after = page.next;
  }
  return found.slice(offset, offset + count);
}

export const idsOf = (jobs: readonly Job[]): readonly string[] => jobs.map(({ id }) => id);
