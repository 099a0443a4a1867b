/** The jobs of a queue by state and filter, a page of them at a time, and what can be done with many at once. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { setQuery, usePlace } from '../data/address.ts';
import { withQuery } from '../data/call.ts';
import { useMay } from '../data/me.ts';
import { useQuery } from '../data/use-query.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Still } from '../ui/still.tsx';
import { Trouble } from '../ui/trouble.tsx';
import { BulkActions } from './bulk-actions.tsx';
import { CopyList } from './copy-list.tsx';
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
  const after = usePlace().query.get('after') ?? undefined;
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
      <Trouble error={error} />
      <div class="flex flex-wrap items-center justify-between gap-2">
        <StateTabs counts={counts} />
        <CopyList queue={name} filters={filters} />
      </div>
      <FilterFields />
      {data?.jobs.length === 0 && data.next === null && (
        <NoJobs name={name} isFiltered={Object.keys(filters).length > 0} />
      )}
      {data !== undefined && data.jobs.length > 0 && (
        <Chooseable
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

interface ChooseableProps {
  readonly jobs: readonly JobView[];
  /** Which list it is. */
  readonly of: string;
  readonly query: Readonly<Record<string, string>>;
  readonly matching: number | null;
  onDone(): void;
}

function Chooseable({ jobs, of, query, matching, onDone }: ChooseableProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const choose = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  const done = () => {
    setChosen(new Set());
    onDone();
  };
  const mayChoose = useMay('operate');
  return (
    <>
      {mayChoose && (
        <BulkActions chosen={jobs.filter(({ id }) => chosen.has(id))} query={query} matching={matching} onDone={done} />
      )}
      <Still rows={jobs} of={of} keyOf={({ id }) => id}>
        {(rows) => <JobTable jobs={rows} {...(mayChoose && { chosen, choose })} />}
      </Still>
    </>
  );
}

/** How many match, where counts alone tell; null where only looking at each would. */
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
      <Empty title="No job fits these filters">
        <button type="button" class="link" onClick={clearFilters}>
          Show all of the queue's jobs
        </button>
      </Empty>
    );
  return (
    <Empty title="This queue has no jobs" command={`longhaul add ${name} '{"hello": "world"}'`}>
      Add one here by New job, or from a shell:
    </Empty>
  );
}

/** A search by words looks at so many jobs at a time, and may have found few among them. */
function Pages({ jobs, next, isFirst }: JobPage & { readonly isFirst: boolean }) {
  const isShort = next !== null && jobs.length < ROWS;
  return (
    <nav aria-label="Pages of the list" class="flex items-center gap-2">
      {isShort && (
        <span class="text-soft">{jobs.length === 0 ? 'None' : 'No more'} among those that were looked at.</span>
      )}
      {!isFirst && <Button onClick={() => setQuery({ after: null })}>Newest</Button>}
      {next !== null && <Button onClick={() => setQuery({ after: next })}>{isShort ? 'Look further' : 'Older'}</Button>}
    </nav>
  );
}
