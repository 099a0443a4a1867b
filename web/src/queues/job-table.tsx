/** Jobs in a list: what they are, since when, and why. With boxes where something can be done with many. */
import type { JobView } from '../../../src/wire/job-view.ts';
import { jobPath, queuePath } from '../data/address.ts';
import { Chip } from '../ui/chip.tsx';
import { Link } from '../ui/link.tsx';
import { reasonOf } from '../ui/local-times.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { Cell, Table } from '../ui/table.tsx';
import { useNow, When } from '../ui/when.tsx';

interface JobTableProps {
  readonly jobs: readonly JobView[];
  readonly hasQueue?: boolean;
  readonly chosen?: ReadonlySet<string>;
  choose?(id: string): void;
}

export function JobTable({ jobs, hasQueue = false, chosen, choose }: JobTableProps) {
  const heads = [
    ...(choose ? [{ text: 'Chosen', class: 'w-px max-sm:text-[0px]' }] : []),
    'Job',
    ...(hasQueue ? ['Queue'] : []),
    'State',
    'Added',
    { text: 'Ended', class: 'max-sm:hidden' },
    { text: 'Why', class: 'max-sm:hidden' },
  ];
  return (
    <Table caption="Jobs" heads={heads}>
      {jobs.map((job) => (
        <Row key={job.id} job={job} hasQueue={hasQueue} isChosen={chosen?.has(job.id) ?? false} choose={choose} />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly job: JobView;
  readonly hasQueue: boolean;
  readonly isChosen: boolean;
  readonly choose: ((id: string) => void) | undefined;
}

function Row({ job, hasQueue, isChosen, choose }: RowProps) {
  const title = job.name ?? job.id;
  return (
    <tr class="hover:bg-raised/50">
      {choose && (
        <Cell>
          <input type="checkbox" aria-label={`choose ${title}`} checked={isChosen} onChange={() => choose(job.id)} />
        </Cell>
      )}
      <Cell class="max-w-44 sm:max-w-96">
        <Link to={jobPath(job.queue, job.id)} class="link block truncate font-medium" title={job.id}>
          {title}
        </Link>
        {job.tags.length > 0 && <div class="truncate text-xs text-soft">{job.tags.join(' · ')}</div>}
      </Cell>
      {hasQueue && (
        <Cell>
          <Link to={queuePath(job.queue)} class="link">
            {job.queue}
          </Link>
        </Cell>
      )}
      <Cell>
        <Chip word={job.label} />
      </Cell>
      <Cell>
        <When at={job.createdAt} />
      </Cell>
      <Cell class="max-sm:hidden">
        <When at={job.endedAt} />
      </Cell>
      <Cell class="max-w-md max-sm:hidden">
        <Why job={job} />
      </Cell>
    </tr>
  );
}

function Why({ job }: { job: JobView }) {
  const now = useNow();
  if (job.state === 'running')
    return <ProgressBar percent={job.progress?.percent ?? null} label={`progress of ${job.name ?? job.id}`} />;
  return <span class="line-clamp-2 break-words text-soft">{reasonOf(job, now)}</span>;
}
