/** Applies one action to many jobs, page by page, and counts the results. One call handles a bounded number of pages. */
import type { TextQuery } from '../../core/job/filter-pages.ts';
import { listJobs } from '../../core/job/filter-pages.ts';
import type { JobPage, JobStore } from '../../core/ports/job-store.ts';
import type { Refused } from '../../core/ports/refusal.ts';

export type BulkAction =
  | { readonly kind: 'cancel'; readonly dependents?: 'cancel' | 'leave' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'requeue'; readonly queue?: string; readonly delayMs?: number };

export interface Selection {
  readonly ids?: readonly string[];
  readonly query?: Partial<TextQuery>;
}

export interface BulkResult {
  readonly ok: number;
  readonly refused: Readonly<Record<string, number>>;
  /** Whether more jobs match than this call handled. */
  readonly more: boolean;
}

const PAGE = 500;
const MAX_PAGES = 40;

export async function bulk(jobs: JobStore, selection: Selection, action: BulkAction): Promise<BulkResult> {
  const count = { ok: 0, refused: {} as Record<string, number> };
  if (selection.ids !== undefined) {
    addResults(count, await act(jobs, selection.ids, action));
    return { ...count, more: false };
  }
  const more = await eachPage(jobs, selection.query ?? {}, async (page) => {
    const ids = page.map(({ id }) => id);
    addResults(count, await act(jobs, ids, action));
  });
  return { ...count, more };
}

export interface Matching {
  readonly count: number;
  /** How many of them have dependents. */
  readonly awaited: number;
  /** Whether more jobs match than one call handles. */
  readonly more: boolean;
}

/** Counts the jobs that one bulk call would select. */
export async function countMatching(jobs: JobStore, query: Partial<TextQuery>): Promise<Matching> {
  const sum = { count: 0, awaited: 0 };
  const more = await eachPage(jobs, query, async (page) => {
    sum.count += page.length;
    sum.awaited += page.filter(({ dependents }) => dependents > 0).length;
  });
  return { ...sum, more };
}

/** Calls `work` for each page. Returns whether there are more pages than one call handles. */
async function eachPage(
  jobs: JobStore,
  query: Partial<TextQuery>,
  work: (page: JobPage['jobs']) => Promise<void>,
): Promise<boolean> {
  let after: string | null = null;
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page: JobPage = await listJobs(jobs, {
      ...query,
      order: 'newest',
      limit: PAGE,
      ...(after !== null && { after }),
    });
    await work(page.jobs);
    after = page.next;
    if (after === null) return false;
  }
  return true;
}

async function act(
  jobs: JobStore,
  ids: readonly string[],
  action: BulkAction,
): Promise<readonly ({ readonly ok: true } | Refused)[]> {
  if (ids.length === 0) return [];
  switch (action.kind) {
    case 'cancel': {
      const { kind: _kind, ...how } = action;
      return jobs.cancel(ids.map((id) => ({ id, ...how })));
    }
    case 'delete':
      return jobs.delete(ids);
    case 'requeue': {
      const { kind: _kind, ...how } = action;
      return jobs.requeue(ids.map((id) => ({ id, ...how })));
    }
  }
}

function addResults(
  count: { ok: number; readonly refused: Record<string, number> },
  results: readonly ({ readonly ok: true } | Refused)[],
): void {
  for (const result of results) {
    if (result.ok) count.ok += 1;
    else count.refused[result.refusal.code] = (count.refused[result.refusal.code] ?? 0) + 1;
  }
}
