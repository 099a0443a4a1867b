/** A queue: its state, its jobs by state and filter, what can be done with them, and a new job. */
import type { QueueView } from '../../../src/wire/views.ts';
import { useQuery } from '../data/use-query.ts';
import { QueueSummary } from '../queues/queue-glance.tsx';
import { QueueHead } from '../queues/queue-head.tsx';
import { QueueJobs } from '../queues/queue-jobs.tsx';
import { QueueStatistics } from '../queues/queue-statistics.tsx';
import { Trouble } from '../ui/trouble.tsx';

export function QueuePage({ name }: { name: string }) {
  const { data, error, refresh } = useQuery<QueueView>(`api/queues/${encodeURIComponent(name)}`, {
    concerns: (event) => event.queue === name,
  });
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <QueueHead name={name} view={data} onDone={refresh} />
      <Trouble error={error} />
      <QueueSummary name={name} />
      <QueueStatistics name={name} />
      <QueueJobs name={name} counts={data?.counts} onDone={refresh} />
    </div>
  );
}
