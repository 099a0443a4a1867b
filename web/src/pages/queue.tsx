/** A queue: its state, its jobs by state and filter, what can be done with them, and a new job. */
import { useState } from 'preact/hooks';
import type { JobView } from '../../../src/wire/job-view.ts';
import type { QueueView } from '../../../src/wire/views.ts';
import { setQuery, usePlace } from '../data/address.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { BulkActions } from '../queues/bulk-actions.tsx';
import { FilterFields, StateTabs, useFilters } from '../queues/job-filters.tsx';
import { JobTable } from '../queues/job-table.tsx';
import { NewJob } from '../queues/new-job.tsx';
import { QueueSettings } from '../queues/queue-settings.tsx';
import { QueueState } from '../queues/queue-state.tsx';
import { Button } from '../ui/button.tsx';
import { Chip } from '../ui/chip.tsx';
import { Empty } from '../ui/empty.tsx';
import { Trouble } from '../ui/trouble.tsx';

interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: string | null;
}

const ROWS = 50;

export function QueuePage({ name }: { name: string }) {
  const place = usePlace();
  const filters = useFilters();
  const [isAdding, setAdding] = useState(false);
  const [isSetting, setSetting] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const concerns = (event: { queue: string }) => event.queue === name;
  const queue = useQuery<QueueView>(`api/queues/${encodeURIComponent(name)}`, { concerns });
  const after = place.query.get('after') ?? undefined;
  const jobs = useQuery<JobPage>(withQuery('api/jobs', { queue: name, ...filters, limit: ROWS, after }), { concerns });
  const view = queue.data;
  const matching = matchingOf(view, filters);
  const choose = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <header class="flex flex-wrap items-center gap-3">
        <h1 class="text-xl font-semibold break-all">{name}</h1>
        {view !== undefined && <Chip word={view.settings.state} title={view.settings.note ?? undefined} />}
        <div class="ml-auto flex flex-wrap gap-2">
          {view !== undefined && <Button onClick={() => setSetting(true)}>Settings …</Button>}
          {view !== undefined && <QueueState queue={view} onDone={queue.refresh} />}
          <Button kind="main" onClick={() => setAdding(true)}>
            New job …
          </Button>
        </div>
      </header>
      {view?.problem != null && (
        <p class="rounded-md border border-bad bg-bad-ground px-3 py-2 text-bad">{view.problem}</p>
      )}
      {view?.settings.note != null && <p class="text-soft">{view.settings.note}</p>}
      <Trouble error={queue.error ?? jobs.error} />
      <div class="flex flex-wrap items-center justify-between gap-2">
        <StateTabs counts={view?.counts} />
        <FilterFields />
      </div>
      {jobs.data?.jobs.length === 0 && <NoJobs name={name} isFiltered={Object.keys(filters).length > 0} />}
      {jobs.data !== undefined && jobs.data.jobs.length > 0 && (
        <>
          <BulkActions
            ids={[...chosen]}
            query={{ queue: name, ...filters }}
            matching={matching}
            onDone={() => {
              setChosen(new Set());
              jobs.refresh();
              queue.refresh();
            }}
          />
          <JobTable jobs={jobs.data.jobs} chosen={chosen} choose={choose} />
          <Pages next={jobs.data.next} isFirst={after === undefined} />
        </>
      )}
      {isSetting && view !== undefined && (
        <QueueSettings
          queue={view}
          onClose={() => setSetting(false)}
          onDone={() => {
            setSetting(false);
            queue.refresh();
          }}
        />
      )}
      {isAdding && <NewJob queue={name} onClose={() => setAdding(false)} />}
    </div>
  );
}

/** How many match, where counts alone tell; null where only looking at each would. */
function matchingOf(view: QueueView | undefined, filters: Readonly<Record<string, string>>): number | null {
  const names = Object.keys(filters);
  if (view === undefined || names.some((name) => name !== 'state')) return null;
  const { draft, waiting, running, done, failed, cancelled } = view.counts;
  if (filters['state'] === undefined) return draft + waiting + running + done + failed + cancelled;
  return { draft, waiting, running, done, failed, cancelled }[filters['state']] ?? null;
}

function NoJobs({ name, isFiltered }: { name: string; isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No job fits these filters">
        <button
          type="button"
          class="link"
          onClick={() => setQuery({ state: null, label: null, tag: null, name: null, worker: null, group: null })}
        >
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

function Pages({ next, isFirst }: { next: string | null; isFirst: boolean }) {
  return (
    <nav aria-label="Pages of the list" class="flex gap-2">
      {!isFirst && <Button onClick={() => setQuery({ after: null })}>Newest</Button>}
      {next !== null && <Button onClick={() => setQuery({ after: next })}>Older</Button>}
    </nav>
  );
}
