/** Search: a job by its id, else by name or tag, newest first. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { usePlace } from '../data/address.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { JobTable } from '../queues/job-table.tsx';
import { Empty } from '../ui/empty.tsx';

interface JobPage {
  readonly jobs: readonly JobView[];
}

const ID = /^[A-Za-z0-9._:~@-]{1,128}$/;

export function SearchPage() {
  const words = usePlace().query.get('for') ?? '';
  const byId = useQuery<JobView>(ID.test(words) ? `api/jobs/${encodeURIComponent(words)}` : null);
  const byName = useQuery<JobPage>(words === '' ? null : withQuery('api/jobs', { name: words, limit: 50 }));
  const byTag = useQuery<JobPage>(words === '' ? null : withQuery('api/jobs', { tag: words, limit: 50 }));
  const found = new Map(
    [...(byId.data ? [byId.data] : []), ...(byName.data?.jobs ?? []), ...(byTag.data?.jobs ?? [])].map((job) => [
      job.id,
      job,
    ]),
  );
  const isAnswered = byName.data !== undefined && byTag.data !== undefined;
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold break-words">Search: {words}</h1>
      {found.size > 0 && <JobTable jobs={[...found.values()]} hasQueue />}
      {found.size === 0 && isAnswered && (
        <Empty title="Nothing found">A job is found by its whole id, its whole name, or one of its tags.</Empty>
      )}
    </div>
  );
}
