/** The table of jobs, with checkboxes if bulk actions are possible. */
import { failureText } from '../../../src/core/job/failure-text.ts';
import { NO_WORKER } from '../../../src/core/limits/without-worker.ts';
import type { JobView } from '../../../src/wire/job-view.ts';
import { jobPath, queuePath } from '../data/location.ts';
import { useHasNoWorker } from '../data/overview.ts';
import { CopyId } from '../job/copy-id.tsx';
import { titleOf } from '../job/job-title.ts';
import { JobChip } from '../ui/chip.tsx';
import { Link } from '../ui/link.tsx';
import { reasonOf } from '../ui/local-times.ts';
import { ProgressBar } from '../ui/progress-bar.tsx';
import { RelativeTime, useNow } from '../ui/relative-time.tsx';
import { Cell, Table } from '../ui/table.tsx';

interface JobTableProps {
  readonly jobs: readonly JobView[];
  readonly hasQueue?: boolean;
  readonly selected?: ReadonlySet<string>;
  select?(id: string): void;
}

export function JobTable({ jobs, hasQueue = false, selected, select }: JobTableProps) {
  const heads = [
    ...(select ? [{ text: 'Select', class: 'w-px max-sm:text-[0px]' }] : []),
    'Job',
    ...(hasQueue ? ['Queue'] : []),
    'State',
    { text: 'Added', class: 'max-sm:hidden' },
    { text: 'Ended', class: 'max-sm:hidden' },
    { text: 'Reason', class: 'max-sm:hidden' },
  ];
  return (
    <Table caption="Jobs" heads={heads}>
      {jobs.map((job) => (
        <Row key={job.id} job={job} hasQueue={hasQueue} isSelected={selected?.has(job.id) ?? false} select={select} />
      ))}
    </Table>
  );
}

interface RowProps {
  readonly job: JobView;
  readonly hasQueue: boolean;
  readonly isSelected: boolean;
  readonly select: ((id: string) => void) | undefined;
}

function Row({ job, hasQueue, isSelected, select }: RowProps) {
  const title = titleOf(job);
  return (
    <tr class="hover:bg-raised/50">
      {select && (
        <Cell>
          <input type="checkbox" aria-label={`select ${title}`} checked={isSelected} onChange={() => select(job.id)} />
        </Cell>
      )}
      <Cell class="max-w-44 sm:max-w-96">
        <Link to={jobPath(job.queue, job.id)} class="link block truncate font-medium" title={job.id}>
          {title}
        </Link>
        <div class="truncate text-xs text-soft">
          <CopyId id={job.id} />{' '}
          <span class="sm:hidden">
            <RelativeTime at={job.createdAt} />
          </span>{' '}
          {job.tags.join(' · ')}
        </div>
      </Cell>
      {hasQueue && (
        <Cell>
          <Link to={queuePath(job.queue)} class="link">
            {job.queue}
          </Link>
        </Cell>
      )}
      <Cell>
        <JobChip label={job.label} queue={job.queue} />
      </Cell>
      <Cell class="max-sm:hidden">
        <RelativeTime at={job.createdAt} />
      </Cell>
      <Cell class="max-sm:hidden">
        <RelativeTime at={job.endedAt} />
      </Cell>
      <Cell class="max-w-md max-sm:hidden">
        <Why job={job} />
      </Cell>
    </tr>
  );
}

function Why({ job }: { job: JobView }) {
  const now = useNow();
  const hasNoWorker = useHasNoWorker(job.queue) && job.label === 'ready';
  if (job.state === 'running')
    return <ProgressBar percent={job.progress?.percent ?? null} label={`progress of ${titleOf(job)}`} />;
  const failed = job.label === 'retrying' && job.failure !== null ? `: ${failureText(job.failure)}` : '';
  const reason = hasNoWorker ? NO_WORKER : `${reasonOf(job, now)}${failed}`;
  return (
    <span class={`line-clamp-2 break-words ${job.state === 'failed' ? 'text-bad' : 'text-soft'}`} title={reason}>
      {reason}
    </span>
  );
}
