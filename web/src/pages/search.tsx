/** Search: by the beginning of an id, a tag, a name, or a field of the data that its queue lets be found. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { setQuery, usePlace } from '../data/address.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { JobTable } from '../queues/job-table.tsx';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { Trouble } from '../ui/trouble.tsx';

interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: string | null;
}

const ROWS = 50;

export function SearchPage() {
  const { query } = usePlace();
  const words = query.get('for') ?? '';
  const after = query.get('after') ?? undefined;
  const { data, error } = useQuery<JobPage>(
    words === '' ? null : withQuery('api/search', { q: words, limit: ROWS, after }),
  );
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold break-words">Search: {words}</h1>
      <Trouble error={error} />
      {data !== undefined && data.jobs.length > 0 && <JobTable jobs={data.jobs} hasQueue />}
      {data?.jobs.length === 0 && data.next === null && (
        <Empty title="Nothing found">
          A job is found by the beginning of its id, its name, one of its tags, or a field of its data that its queue
          names in the setting search.
        </Empty>
      )}
      {data !== undefined && data.next !== null && (
        <nav aria-label="Pages of the list">
          <Button onClick={() => setQuery({ after: data.next })}>Look further</Button>
        </nav>
      )}
    </div>
  );
}
