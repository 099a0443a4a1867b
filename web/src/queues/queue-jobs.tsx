/** The jobs of a queue by state and filter, in pages, with bulk actions. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { withQuery } from '../data/call.ts';
import { setQuery, useLocation } from '../data/location.ts';
import { useHasRole } from '../data/me.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';
import { StableList } from '../ui/stable-list.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { CopyListCommand } from './copy-list-command.tsx';
import type { Filters } from './job-filters.tsx';
import { clearFilters, FilterFields, StateTabs, useFilters } from './job-filters.tsx';
import { JobTable } from './job-table.tsx';

interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: string | null;
}

const ROWS = 50;

interface QueueJobsProps {
  readonly name: string;
  readonly counts: QueueView['counts'] | undefined;
  onDone(): void;
}

export function QueueJobs({ name, counts, onDone }: QueueJobsProps) {
  const filters = useFilters();
  const after = useLocation().query.get('after') ?? undefined;
  const { data, error, refresh } = useQuery<JobPage>(
    withQuery('api/jobs', { queue: name, ...filters, limit: ROWS, after }),
    { concerns: (event) => event.queue === name },
  );
  const done = () => {
    refresh();
    onDone();
  };
  return (
    <>
      <ErrorMessage error={error} />
      <div class="flex flex-wrap items-center justify-between gap-2">
        <StateTabs counts={counts} />
        <CopyListCommand queue={name} filters={filters} />
      </div>
      <FilterFields />
      {data?.jobs.length === 0 && data.next === null && (
        <NoJobs name={name} isFiltered={Object.keys(filters).length > 0} />
      )}
      {data !== undefined && data.jobs.length > 0 && (
        <SelectableJobs
          jobs={data.jobs}
          of={`${after ?? ''} ${JSON.stringify(filters)}`}
          query={{ queue: name, ...filters }}
          matching={matchingOf(counts, filters)}
          onDone={done}
        />
      )}
      {data !== undefined && <Pages {...data} isFirst={after === undefined} />}
    </>
  );
}

interface SelectableJobsProps {
  readonly jobs: readonly JobView[];
  /** Identifies the list. */
  readonly of: string;
  readonly query: Readonly<Record<string, string>>;
  readonly matching: number | null;
  onDone(): void;
}

function SelectableJobs({ jobs, of, query, matching, onDone }: SelectableJobsProps) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    setSelected(next);
  };
  const done = () => {
    setSelected(new Set());
    onDone();
  };
  const canSelect = useHasRole('operate');
  return (
    <>
      {canSelect && (
        <BulkActions
          key={of}
          onClear={() => setSelected(new Set())}
          onSelectAll={() => setSelected(new Set(jobs.map(({ id }) => id)))}
          selected={jobs.filter(({ id }) => selected.has(id))}
          query={query}
          matching={matching}
          onDone={done}
        />
      )}
      <StableList rows={jobs} of={of} keyOf={({ id }) => id}>
        {(rows) => <JobTable jobs={rows} {...(canSelect && { selected, select })} />}
      </StableList>
    </>
  );
}

/** The number of matching jobs if the counts give it, else null. */
function matchingOf(counts: QueueView['counts'] | undefined, filters: Filters): number | null {
  if (counts === undefined || Object.keys(filters).some((name) => name !== 'state')) return null;
  const { draft, waiting, running, done, failed, cancelled } = counts;
  const states: Readonly<Record<string, number>> = { draft, waiting, running, done, failed, cancelled };
  if (filters.state !== undefined) return states[filters.state] ?? null;
  return Object.values(states).reduce((sum, each) => sum + each, 0);
}

function NoJobs({ name, isFiltered }: { name: string; isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No job matches these filters">
        <button type="button" class="link" onClick={clearFilters}>
          Show all jobs of the queue
        </button>
      </Empty>
    );
  return (
    <Empty title="This queue has no jobs" command={['add', name, '{"hello": "world"}']}>
      Add one with New job, or from a shell:
    </Empty>
  );
}

/** A text search examines a limited number of jobs at a time and may find few of them. */
function Pages({ jobs, next, isFirst }: JobPage & { readonly isFirst: boolean }) {
  const isShort = next !== null && jobs.length < ROWS;
  return (
    <nav aria-label="Pages of the list" class="flex items-center gap-2">
      {isShort && (
        <span class="text-soft">{jobs.length === 0 ? 'No' : 'No more'} matches among the jobs examined so far.</span>
      )}
      {!isFirst && <Button onClick={() => setQuery({ after: null })}>Newest</Button>}
      {next !== null && (
        <Button onClick={() => setQuery({ after: next })}>{isShort ? 'Search further' : 'Older'}</Button>
      )}
    </nav>
  );
}
