/** Search by id prefix, name, tag, or a data field that the queue makes searchable. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { withQuery } from '../data/call.ts';
import { setQuery, useLocation } from '../data/location.ts';
import { useQuery } from '../data/use-query.ts';
import { JobTable } from '../queues/job-table.tsx';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: string | null;
}

const ROWS = 50;

export function SearchPage() {
  const { query } = useLocation();
  const text = query.get('for') ?? '';
  const after = query.get('after') ?? undefined;
  const { data, error } = useQuery<JobPage>(
    text === '' ? null : withQuery('api/search', { q: text, limit: ROWS, after }),
  );
  usePageTitle(`Search: ${text}`);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold break-words">Search: {text}</h1>
      <ErrorMessage error={error} />
      {data !== undefined && data.jobs.length > 0 && <JobTable jobs={data.jobs} hasQueue />}
      {data?.jobs.length === 0 && data.next === null && (
        <Empty title="No results">
          The search matches the beginning of an id, a name, a tag, or a data field that the queue lists in its setting
          search.
        </Empty>
      )}
      {data !== undefined && data.next !== null && (
        <nav aria-label="Pages of the list">
          <Button onClick={() => setQuery({ after: data.next })}>Search further</Button>
        </nav>
      )}
    </div>
  );
}
