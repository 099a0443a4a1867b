/** All queues. */
import { useOverview } from '../data/overview.ts';
import { QueuesTable } from '../queues/queues-table.tsx';

export function QueuesPage() {
  const { data } = useOverview();
  return (
    <div class="grid grid-cols-[minmax(0,1fr)] gap-4">
      <h1 class="text-lg font-semibold">Queues</h1>
      {data !== undefined && <QueuesTable queues={data.queues} />}
    </div>
  );
}
