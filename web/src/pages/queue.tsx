/** The page of a queue: state, jobs with filters and bulk actions, statistics, new job. */
import type { QueueView } from '../../../src/wire/views.ts';
import { useQuery } from '../data/use-query.ts';
import { QueueHead } from '../queues/queue-head.tsx';
import { QueueJobs } from '../queues/queue-jobs.tsx';
import { QueueStatistics } from '../queues/queue-statistics.tsx';
import { QueueSummary } from '../queues/queue-summary.tsx';
import { usePageTitle } from '../ui/breadcrumbs.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

export function QueuePage({ name }: { name: string }) {
  const { data, error, refresh } = useQuery<QueueView>(`api/queues/${encodeURIComponent(name)}`, {
    concerns: (event) => event.queue === name,
  });
  usePageTitle(name);
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <QueueHead name={name} view={data} onDone={refresh} />
      <ErrorMessage error={error} />
      <QueueSummary name={name} />
      <QueueJobs name={name} counts={data?.counts} onDone={refresh} />
      <QueueStatistics name={name} />
    </div>
  );
}
