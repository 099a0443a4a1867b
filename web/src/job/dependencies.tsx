/** Which jobs this one waited for and which wait for it, as a small graph from left to right, each a link. */
import type { ComponentChildren } from 'preact';
import type { JobView } from '../../../src/wire/job-view.ts';
import { jobPath } from '../data/address.ts';
import { withQuery } from '../data/call.ts';
import { useQuery } from '../data/use-query.ts';
import { Chip } from '../ui/chip.tsx';
import { Link } from '../ui/link.tsx';

interface JobPage {
  readonly jobs: readonly JobView[];
  readonly next: string | null;
}

const SHOWN = 20;

export function Dependencies({ job }: { job: JobView }) {
  const parents = useRelated({ child: job.id }, job.parents !== null);
  const children = useRelated({ parent: job.id }, true);
  if (parents.jobs.length === 0 && children.jobs.length === 0) return null;
  return (
    <section class="panel px-4 py-3" aria-labelledby="dependencies">
      <h2 id="dependencies" class="mb-2 font-semibold">
        Dependencies
      </h2>
      <div class="flex flex-wrap items-center gap-x-4 gap-y-2">
        {parents.jobs.length > 0 && <Column name="Waits for these jobs" page={parents} after={<Arrow />} />}
        <span class="rounded-md border border-accent px-2 py-1 font-medium">this job</span>
        {children.jobs.length > 0 && <Column name="These jobs wait for it" page={children} before={<Arrow />} />}
      </div>
    </section>
  );
}

function useRelated(query: Readonly<Record<string, string>>, isAsked: boolean): JobPage {
  const path = isAsked ? withQuery('api/jobs', { ...query, limit: SHOWN }) : null;
  // Whatever ends may be one of them, and which ones those are is what is asked.
  const { data } = useQuery<JobPage>(path, { concerns: ({ type }) => type !== 'progress' && type !== 'queue' });
  return data ?? { jobs: [], next: null };
}

interface ColumnProps {
  readonly name: string;
  readonly page: JobPage;
  readonly before?: ComponentChildren;
  readonly after?: ComponentChildren;
}

function Column({ name, page: { jobs, next }, before, after }: ColumnProps) {
  return (
    <>
      {before}
      <ul class="grid min-w-0 gap-1" aria-label={name}>
        {jobs.map(({ id, name: title, queue, label, reason }) => (
          <li key={id} class="flex min-w-0 items-center gap-2">
            <Link to={jobPath(queue, id)} class="link truncate" title={id}>
              {title ?? id}
            </Link>
            <Chip word={label} title={reason} />
          </li>
        ))}
        {next !== null && <li class="text-soft">and more</li>}
      </ul>
      {after}
    </>
  );
}

function Arrow() {
  return (
    <span aria-hidden="true" class="text-soft">
      →
    </span>
  );
}
