/** One action on many jobs, page by page; the answer counts what came of it. A call does a bounded amount and says so. */
import type { JobQuery, JobStore } from '../core/job-store.ts';
import type { Refused } from '../core/refusal.ts';

export type BulkAction =
  | { readonly kind: 'cancel'; readonly dependents?: 'cancel' | 'leave' }
  | { readonly kind: 'delete' }
  | { readonly kind: 'requeue'; readonly queue?: string; readonly delayMs?: number };

export interface Which {
  readonly ids?: readonly string[];
  readonly query?: Partial<JobQuery>;
}

export interface BulkResult {
  readonly ok: number;
  readonly refused: Readonly<Record<string, number>>;
  /** Whether the same call would find more. */
  readonly more: boolean;
}

const PAGE = 500;
const MOST_PAGES = 40;

export async function bulk(jobs: JobStore, which: Which, action: BulkAction): Promise<BulkResult> {
  const count = { ok: 0, refused: {} as Record<string, number> };
  if (which.ids !== undefined) {
    tally(count, await act(jobs, which.ids, action));
    return { ...count, more: false };
  }
  let after: string | null = null;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await jobs.list({ ...which.query, order: 'newest', limit: PAGE, ...(after !== null && { after }) });
    tally(
      count,
      await act(
        jobs,
        page.jobs.map(({ id }) => id),
        action,
      ),
    );
    after = page.next;
    if (after === null) return { ...count, more: false };
  }
  return { ...count, more: true };
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

function tally(
  count: { ok: number; readonly refused: Record<string, number> },
  results: readonly ({ readonly ok: true } | Refused)[],
): void {
  for (const result of results) {
    if (result.ok) count.ok += 1;
    else count.refused[result.refusal.code] = (count.refused[result.refusal.code] ?? 0) + 1;
  }
}
